// Nested maps of promises; errors become null.
// servers: bank
// calls: bank.get_rate 9
// result: [[1,1.08,161.5],[0.925926,1,149.5],[null,null,1]]
const codes = ["EUR", "USD", "JPY"];
const table = await Promise.all(
  codes.map((base) =>
    Promise.all(codes.map((quote) => bankGetRate({ base, quote }).then(({ rate }) => rate, () => null))),
  ),
);
return table;
