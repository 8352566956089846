/** The log of the development server as text for a terminal. */

/** Of the line as it is stored; the rest are fields. */
interface Line {
  level: string
  time: string
  msg?: string
  method?: string
  route?: string
  status?: number
  ms?: number
  err?: { stack?: string }
}

/** The same in every line, or known from the response header. */
const omitted = ['version', 'request_id']

/** Turns a line of JSON into text: time, level, request or message, and the other fields. */
export function readableLine(json: string): string {
  const { level, time, msg = '', method, route, status, ms, err, ...rest }: Line = JSON.parse(json)
  const isRequest = method !== undefined && status !== undefined
  const request = isRequest
    ? [method, route, status, ...(ms === undefined ? [] : [`${ms} ms`])]
    : []
  const message = isRequest && msg === 'request completed' ? [] : [visible(msg)]
  const fields = Object.entries(rest)
    .filter(([name]) => !omitted.includes(name))
    .map(
      ([name, value]) =>
        `${name}=${visible(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
  const words = [...request, ...message, ...fields].join(' ')
  return `${localTime(time)} ${level.padEnd(5)} ${words}\n${indented(err?.stack)}`
}

function localTime(time: string): string {
  return new Date(time).toLocaleTimeString('en-GB')
}

/** Values of clients must not control the terminal. */
function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}

function indented(stack: string | undefined): string {
  if (stack === undefined) return ''
  return stack
    .split('\n')
    .map((line) => `    ${visible(line)}\n`)
    .join('')
}
