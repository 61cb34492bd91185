module example.com/epptok-go

go 1.21
