// The token ids of one request body, read from standard input: tokenize DIRECTORY
#include <epptok.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

class TokenizeError : public std::runtime_error {
public:
    TokenizeError(epptok_status status, const std::string &message)
        : std::runtime_error(std::string(epptok_status_name(status)) + ": " + message), status(status) {}

    const epptok_status status;
};

// A handle. Any thread may call tokenize(), at the same time.
class Tokenizer {
public:
    explicit Tokenizer(const std::string &model) {
        epptok_options options = EPPTOK_OPTIONS_INIT;
        options.model = model.c_str();
        char message[256];
        epptok *opened = nullptr;
        const epptok_status status = epptok_open(&options, &opened, message, sizeof message);
        if (status != EPPTOK_OK) throw TokenizeError(status, message);
        handle_.reset(opened);
    }

    // One vector per prompt: a chat request has one, a batch of completions several.
    std::vector<std::vector<std::uint32_t>> tokenize(std::string_view body, std::chrono::milliseconds timeout) const {
        epptok_request request = EPPTOK_REQUEST_INIT;
        request.body = body.data();
        request.length = body.size();
        request.timeout_ms = static_cast<std::uint32_t>(timeout.count());
        epptok_result *answered = nullptr;
        const epptok_status status = epptok_tokenize(handle_.get(), &request, &answered);
        const Result result(answered);
        if (status != EPPTOK_OK) throw TokenizeError(status, epptok_result_message(result.get()));

        std::vector<std::vector<std::uint32_t>> sequences;
        for (std::size_t i = 0; i < epptok_result_sequence_count(result.get()); i++) {
            std::size_t count = 0;
            const std::uint32_t *ids = epptok_result_ids(result.get(), i, &count);
            sequences.emplace_back(ids, ids + count);
        }
        return sequences;
    }

private:
    struct Close {
        void operator()(epptok *handle) const { epptok_close(handle); }
    };
    struct Free {
        void operator()(epptok_result *result) const { epptok_result_free(&result); }
    };
    using Result = std::unique_ptr<epptok_result, Free>;

    std::unique_ptr<epptok, Close> handle_;
};

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " DIRECTORY\n";
        return 2;
    }
    const std::string body(std::istreambuf_iterator<char>(std::cin), {});
    try {
        const Tokenizer tokenizer(argv[1]);
        for (const auto &ids : tokenizer.tokenize(body, std::chrono::seconds(2)))
            std::cout << ids.size() << " ids, the first is " << (ids.empty() ? "none" : std::to_string(ids[0])) << '\n';
    } catch (const TokenizeError &error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
