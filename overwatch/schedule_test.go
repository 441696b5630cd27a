package overwatch
