# Formats: thousands, padding, repr, percent style.
# servers: web
# calls: web.fetch_page 1
# logs:
#   14,178,000 | 14_178_000 |     14178000 | 14.2M | 1.417800e+07
#   Tokyo has 14178000 people
#      mid   |'q'
# result: 14178000
text = web_fetch_page(url="https://census.example/tokyo?year=2025")
n = int(text.split("Population: ")[1].split("\n")[0].replace(",", ""))
print(f"{n:,} | {n:_} | {n:>12} | {n/1e6:.1f}M | {n:e}")
print("%s has %d people" % ("Tokyo", n))
print("{:^9}|{!r}".format("mid", "q"))
n
