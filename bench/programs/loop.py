sum = 0
for i in range(1000000):
    sum = (sum + i * 7) % 1000003
sum
