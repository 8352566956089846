/** Formats numbers, times, names and lists, in the browser's language. */

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const monthDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const whole = new Intl.NumberFormat()

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

export const formatMoment = (iso: string): string => moment.format(new Date(iso))
/** The start of a plot's bucket: its time, or its day for daily buckets. */
export const formatBucket = (iso: string, isShort = false): string =>
  (isShort ? clock : monthDay).format(new Date(iso))
export const formatCount = (count: number): string => whole.format(count)

/** "3 hr. ago", "in 2 days". */
export function formatRelative(iso: string): string {
  const seconds = (new Date(iso).getTime() - Date.now()) / 1000
  const unit = units.find(([, size]) => Math.abs(seconds) >= size)
  return unit
    ? relative.format(Math.round(seconds / unit[1]), unit[0])
    : relative.format(0, 'second')
}

const spellings = new Map([
  ...['API', 'DNS', 'HTTP', 'JWKS', 'MFA', 'OTP', 'SAML', 'SCIM', 'SMS', 'SSO', 'TOTP', 'URL'].map(
    (word) => [word.toLowerCase(), word] as const,
  ),
  ['oauth', 'OAuth'],
  ['openid', 'OpenID'],
  ['signedup', 'signed up'],
  ['webauthn', 'WebAuthn'],
])

/** `user_signedup` as "User signed up", `send_sms` as "Send SMS". */
export function formatName(name: string): string {
  const words = name.split(/[_.\s-]+/).filter(Boolean)
  const text = words.map((word) => spellings.get(word) ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Lists as text area content: one item per line. */
export const toLines = (items: readonly string[] | undefined): string => (items ?? []).join('\n')

export function fromLines(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((line) => line !== '')
}
