// A plain generator with spread and destructuring.
// servers: weather
// calls: weather.get-forecast 1
// result: {"first":26.8,"third":30.8,"rest":[27.8,29.8],"squares":[1,9,25,49,81]}
function* range(start, end, step = 1) {
  for (let i = start; i <= end; i += step) yield i;
}
const { days } = weatherGetForecast({ city: "Cairo", days: 5 });
const [first, , third, ...rest] = [...range(0, days.length - 1)].map((i) => days[i].high);
({ first, third, rest, squares: Array.from(range(1, 9, 2), (n) => n ** 2) });
