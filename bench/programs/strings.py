digits = "0123456789abcdefghijklmnopqrstuvwxyz"


def base36(i):
    text = ""
    while True:
        text = digits[i % 36] + text
        i //= 36
        if i == 0:
            return text


lines = []
for i in range(20000):
    lines.append(f"{i}: {'item ' * (i % 7)}{base36(i)}")
text = "\n".join(lines)
upper = "".join([line.replace("item", "thing").upper()[:40] for line in text.split("\n")])
len(upper)
