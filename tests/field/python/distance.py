# math on coordinates.
# servers: weather
# calls: weather.geocode 2
# result: 9562
from math import asin, cos, radians, sin, sqrt

def locate(name):
    results = weather_geocode(query=name)["results"]
    if not results:
        raise ValueError(f"not found: {name}")
    return results[0]["latitude"], results[0]["longitude"]

def haversine(a, b):
    (la, lo), (lb, lp) = [tuple(map(radians, p)) for p in (a, b)]
    h = sin((lb - la) / 2) ** 2 + cos(la) * cos(lb) * sin((lp - lo) / 2) ** 2
    return 2 * 6371 * asin(sqrt(h))

round(haversine(locate("tokyo"), locate("cairo")))
