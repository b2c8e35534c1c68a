# Four services in one program, one message at the end.
# servers: weather, calendar, mail, slack
# calls: calendar.list-events 1, weather.get-current 1, mail.search_messages 1, slack.post_message 1
# logs:
#   Good morning!
#   2 events, first Stand-up at 09:00.
#   Cloudy, 11 degrees; 4 unread.
# result: true
today = "2026-03-09"
events = [e for e in calendar_list_events()["events"] if e["start"].startswith(today)]
weather = weather_get_current(city="Berlin")
unread = mail_search_messages(query="is:unread")["total"]
text = f"""Good morning!
{len(events)} events, first {events[0]['title']} at {events[0]['start'][11:16]}.
{weather['condition'].capitalize()}, {weather['temperature']:.0f} degrees; {unread} unread."""
posted = slack_post_message(channel="general", text=text)
print(text)
posted["ok"]
