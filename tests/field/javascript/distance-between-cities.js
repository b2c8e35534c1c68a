// The distance on a sphere.
// servers: weather
// calls: weather.geocode 2
// result: {"from":"Berlin","to":"Lisbon","km":2312}
const toRad = (d) => (d * Math.PI) / 180;
async function locate(name) {
  const { results: [place] } = await weatherGeocode({ query: name });
  if (!place) throw new Error(`not found: ${name}`);
  return place;
}
const [a, b] = [await locate("berlin"), await locate("lisbon")];
const h = Math.sin(toRad(b.latitude - a.latitude) / 2) ** 2 + Math.cos(toRad(a.latitude)) * Math.cos(toRad(b.latitude)) * Math.sin(toRad(b.longitude - a.longitude) / 2) ** 2;
return { from: a.name, to: b.name, km: Math.round(2 * 6371 * Math.asin(Math.sqrt(h))) };
