/**
 * Go durations plus days, weeks and years: signed sums of decimal numbers with units, such as `1h30m`, `1.5s` or `7d`.
 */
const unitSeconds: Record<string, number> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 7 * 86_400,
  y: 365 * 86_400,
}

// Unambiguous, so that a long invalid text is rejected in linear time.
const number = String.raw`(?:\d+(?:\.\d*)?|\.\d+)`
const part = new RegExp(`(${number})(ns|us|µs|μs|ms|[smhdwy])`, 'g')
const whole = new RegExp(`^[+-]?(?:${number}(?:ns|us|µs|μs|ms|[smhdwy]))+$`)
const bare = new RegExp(`^[+-]?${number}$`)

/** Go stores durations as 64-bit nanoseconds. */
const maxSeconds = 2 ** 63 / 1e9

/**
 * Parses a Go duration, with days of 24 hours and years of 365 days, or a bare number of seconds. Returns seconds, with
 * fractions, possibly negative. Throws RangeError for any other text and above about 292 years.
 */
export function parseDuration(text: string): number {
  const seconds = bare.test(text) ? Number(text) : sumOfParts(text)
  if (Math.abs(seconds) > maxSeconds) throw new RangeError(`duration "${text}" is too long`)
  return seconds === 0 ? 0 : seconds
}

function sumOfParts(text: string): number {
  if (!whole.test(text)) throw new RangeError(`"${text}" is not a duration`)
  let seconds = 0
  for (const [, amount = '', unit = ''] of text.matchAll(part)) {
    seconds += Number(amount) * (unitSeconds[unit] ?? Number.NaN)
  }
  return text.startsWith('-') ? -seconds : seconds
}

/** Formats seconds as in a configuration: `90` as `1m30s`, `86400` as `24h`. */
export function formatDuration(seconds: number): string {
  if (seconds === 0) return '0s'
  if (seconds < 0) return `-${formatDuration(-seconds)}`
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  const rest = Number((seconds % 60).toFixed(9))
  return [hours && `${hours}h`, minutes && `${minutes}m`, rest && `${rest}s`]
    .filter(Boolean)
    .join('')
}
