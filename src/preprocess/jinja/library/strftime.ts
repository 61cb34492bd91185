import { unsupported } from '../values/render-error.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const DAY = 86_400_000;

/** `date`, in local time, as Python's datetime.strftime writes it on Linux in the C locale. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%([-_0^#]?)([\s\S]?)/g, (whole, flag: string, code: string) => {
    if (code === '') return whole;
    const text = directive(date, code);
    if (text === undefined) return unsupported(`strftime directive ${whole}`);
    if (flag === '-') return text.replace(/^[0 ]+(?=\d)/, '');
    if (flag === '_') return text.replace(/^0+(?=\d)/, (zeros) => ' '.repeat(zeros.length));
    if (flag === '^' || flag === '#') return text.toUpperCase();
    return text;
  });
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getFullYear(), 0, 1);
  return Math.round((Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - start) / DAY) + 1;
}

/** Weeks since the first `firstDay` of the year. */
function week(date: Date, firstDay: number): number {
  const weekday = (date.getDay() - firstDay + 7) % 7;
  return Math.floor((dayOfYear(date) + 6 - weekday) / 7);
}

/** Year and number of the ISO week. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const year = thursday.getUTCFullYear();
  return { year, week: Math.ceil(((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY + 1) / 7) };
}

function directive(date: Date, code: string): string | undefined {
  const hour12 = date.getHours() % 12 || 12;
  const year = String(date.getFullYear()).padStart(4, '0');
  switch (code) {
    case 'a':
      return DAYS[date.getDay()]?.slice(0, 3);
    case 'A':
      return DAYS[date.getDay()];
    case 'b':
    case 'h':
      return MONTHS[date.getMonth()]?.slice(0, 3);
    case 'B':
      return MONTHS[date.getMonth()];
    case 'c':
      return strftime(date, '%a %b %e %H:%M:%S %Y');
    case 'C':
      return two(Math.floor(date.getFullYear() / 100));
    case 'd':
      return two(date.getDate());
    case 'D':
    case 'x':
      return strftime(date, '%m/%d/%y');
    case 'e':
      return String(date.getDate()).padStart(2, ' ');
    case 'f':
      return String(date.getMilliseconds() * 1000).padStart(6, '0');
    case 'F':
      return strftime(date, '%Y-%m-%d');
    case 'G':
      return String(isoWeek(date).year);
    case 'H':
      return two(date.getHours());
    case 'I':
      return two(hour12);
    case 'j':
      return String(dayOfYear(date)).padStart(3, '0');
    case 'k':
      return String(date.getHours()).padStart(2, ' ');
    case 'l':
      return String(hour12).padStart(2, ' ');
    case 'm':
      return two(date.getMonth() + 1);
    case 'M':
      return two(date.getMinutes());
    case 'n':
      return '\n';
    case 'p':
      return date.getHours() < 12 ? 'AM' : 'PM';
    case 'P':
      return date.getHours() < 12 ? 'am' : 'pm';
    case 'r':
      return strftime(date, '%I:%M:%S %p');
    case 'R':
      return strftime(date, '%H:%M');
    case 'S':
      return two(date.getSeconds());
    case 't':
      return '\t';
    case 'T':
    case 'X':
      return strftime(date, '%H:%M:%S');
    case 'u':
      return String(date.getDay() || 7);
    case 'U':
      return two(week(date, 0));
    case 'V':
      return two(isoWeek(date).week);
    case 'w':
      return String(date.getDay());
    case 'W':
      return two(week(date, 1));
    case 'y':
      return two(date.getFullYear() % 100);
    case 'Y':
      return year;
    // The date has no time zone: Python writes nothing for it.
    case 'z':
    case 'Z':
      return '';
    case '%':
      return '%';
  }
  return undefined;
}
