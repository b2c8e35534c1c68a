# html.parser and urllib.parse from the standard library.
# servers: web
# calls: web.fetch_page 1
# result: {"host":"heights.example","path":"/burj","query":{"ref":["eiffel"],"lang":["en"]}}
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlparse

class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.links.append(dict(attrs)["href"])

base = "https://heights.example/eiffel"
parser = Links()
parser.feed(web_fetch_page(url=base))
url = urlparse(urljoin(base, parser.links[0]))
{"host": url.netloc, "path": url.path, "query": parse_qs(url.query)}
