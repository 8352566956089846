/** Formats times and devices in a language. */
import type { AccountSay } from '../../ui/account/texts.ts'
import { getDeviceName } from '../sessions/index.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

/** Date and time in UTC: the server does not know the time zone of the browser. Empty for anything but a timestamp. */
export function formatTime(tag: string, timestamp: unknown): string {
  const time = typeof timestamp === 'string' ? new Date(timestamp) : undefined
  if (!time || Number.isNaN(time.getTime())) return ''
  return `${getFormat(tag).format(time)} UTC`
}

function getFormat(tag: string): Intl.DateTimeFormat {
  const known = formats.get(tag)
  if (known) return known
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const made = new Intl.DateTimeFormat(tag, style)
  formats.set(tag, made)
  return made
}

/** Browser and system of a session. */
export function formatDevice(say: AccountSay, userAgent: unknown): string {
  const name = typeof userAgent === 'string' ? getDeviceName(userAgent) : ''
  return name || say('unknown_device')
}
