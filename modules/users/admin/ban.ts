import { validationFailed } from '../../../schemas/errors.ts'
import { parseDuration } from '../../../schemas/values/duration.ts'

/**
 * The end of a ban of this duration; null for `none` and 0, which lift one. Undefined keeps the ban. Throws
 * validation_failed.
 */
export function bannedUntil(duration: string | undefined, now: Date): Date | null | undefined {
  if (!duration) return undefined
  if (duration === 'none') return null
  const seconds = parseSeconds(duration)
  return seconds === 0 ? null : new Date(now.getTime() + seconds * 1000)
}

function parseSeconds(duration: string): number {
  try {
    return parseDuration(duration)
  } catch {
    throw validationFailed(
      'invalid format for ban duration: send none or a sum such as 24h or 1h30m (ns, us, ms, s, m, h)',
    )
  }
}
