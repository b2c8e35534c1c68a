// An INI file into nested objects.
// servers: files
// calls: files.read_text_file 1
// prints:
//   {
//     "server": {
//       "host": "0.0.0.0",
//       "port": 8080
//     },
//     "db": {
//       "url": "postgres://db.example/app",
//       "pool": 5
//     }
//   }
const ini = filesReadTextFile({ path: "src/config.ini" });
const config = {};
let section = config;
for (const raw of ini.split(/\r?\n/)) {
  const line = raw.trim();
  if (!line || line.startsWith(";")) continue;
  const header = /^\[(.+)\]$/.exec(line);
  if (header) {
    section = config[header[1]] = {};
  } else {
    const [key, ...rest] = line.split("=");
    const value = rest.join("=").trim();
    section[key.trim()] = /^\d+$/.test(value) ? Number(value) : value;
  }
}
output(JSON.stringify(config, null, 2));
