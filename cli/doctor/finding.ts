/** What a check of the doctor is given, and what it says. */
import type { Db } from '../../db/database.ts'
import type { Config } from '../../plugins/config/config.ts'
import type { Encryption } from '../../plugins/encryption.ts'

export interface Finding {
  /** `fail`: people would be refused, or endangered. `warn`: worth a look. */
  level: 'pass' | 'warn' | 'fail'
  /** What is the case and, unless it passes, what to do. Holds no secret. */
  sentence: string
}

export interface Surroundings {
  config: Config
  db: Db
  encryption: Encryption
  fetch: typeof globalThis.fetch
  /** Whom the mail server is asked about; without it, the sender. */
  recipient: string | undefined
  now: Date
}

export type Check = (surroundings: Surroundings) => Finding[] | Promise<Finding[]>

export const pass = (sentence: string): Finding => ({ level: 'pass', sentence })
export const warn = (sentence: string): Finding => ({ level: 'warn', sentence })
export const fail = (sentence: string): Finding => ({ level: 'fail', sentence })

/**
 * Why something did not work, without what a library wraps around it: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, or a sentence
 * where there is no such name. Those of Postgres are numbers, which say less than its sentences.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return /^[A-Z_]+$/.test(code) ? code : error.message || error.name
}
