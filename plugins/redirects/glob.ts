/**
 * The patterns of AUTH_URI_ALLOW_LIST: `*` is any run without `.` or `/`, `**` is anything, `?` one character that
 * is neither, `[abc]`, `[a-c]` and `[!a]` are classes, a backslash takes the next character as it is.
 */
export function compileGlob(pattern: string): RegExp {
  const tokens = pattern.match(/\\.|\*\*|\*|\?|\[!?[^\]]+\]|[\s\S]/g) ?? []
  return new RegExp(`^${tokens.map(translate).join('')}$`, 'u')
}

function translate(token: string): string {
  if (token === '**') return '.*'
  if (token === '*') return '[^./]*'
  if (token === '?') return '[^./]'
  if (token.length > 2 && token.startsWith('[')) return translateClass(token)
  return literal(token.length === 2 && token.startsWith('\\') ? token.slice(1) : token)
}

function translateClass(token: string): string {
  const negated = token.startsWith('[!')
  const members = token.slice(negated ? 2 : 1, -1).replace(/[\\\]^]/g, '\\$&')
  return `[${negated ? '^' : ''}${members}]`
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
