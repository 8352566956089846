/** The input and the result of a check. */
import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import type { Encryption } from '../../plugins/security/encryption/index.ts'

export interface Finding {
  /** `fail`: users would be rejected or at risk. `warn`: should be reviewed. */
  level: 'pass' | 'warn' | 'fail'
  /** The state and, unless it passes, what to do. Contains no secret. */
  sentence: string
}

export interface DoctorContext {
  config: Config
  db: Db
  encryption: Encryption
  fetch: typeof globalThis.fetch
  /** The recipient that the mail server is asked for; the sender by default. */
  recipient: string | undefined
  now: Date
}

export type Check = (context: DoctorContext) => Finding[] | Promise<Finding[]>

export const pass = (sentence: string): Finding => ({ level: 'pass', sentence })
export const warn = (sentence: string): Finding => ({ level: 'warn', sentence })
export const fail = (sentence: string): Finding => ({ level: 'fail', sentence })

/**
 * The cause of an error without wrappers: an error code such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, else the message.
 * Postgres's codes are numbers, so that its message is used.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return /^[A-Z_]+$/.test(code) ? code : error.message || error.name
}
