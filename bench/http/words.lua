-- For wrk: searches for two words, others every time.
local words = {
  "read", "write", "table", "report", "extract", "file", "when", "user", "asks", "check", "each", "page",
  "convert", "image", "data", "query", "summary", "invoice", "then", "with", "format", "result", "line", "column",
}

request = function()
  local first, second = words[math.random(#words)], words[math.random(#words)]
  return wrk.format(nil, "/api/skills?page_size=50&q=" .. first .. "+" .. second)
end
