/** The input and the result of a check, and what several checks ask. */
import ipaddr from 'ipaddr.js'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import type { Encryption } from '../../plugins/security/encryption/index.ts'

export interface DoctorFinding {
  /** `fail`: users would be rejected or at risk. `warn`: the operator should review it. */
  level: 'pass' | 'warn' | 'fail'
  /** The state and, unless the check passes, the action to take. Contains no secret. */
  sentence: string
}

export interface DoctorContext {
  config: Config
  db: Db
  encryption: Encryption
  fetch: typeof globalThis.fetch
  /** The recipient that the mail server is tested with; the sender by default. */
  recipient: string | undefined
  now: Date
}

export type Check = (context: DoctorContext) => DoctorFinding[] | Promise<DoctorFinding[]>

export const pass = (sentence: string): DoctorFinding => ({ level: 'pass', sentence })
export const warn = (sentence: string): DoctorFinding => ({ level: 'warn', sentence })
export const fail = (sentence: string): DoctorFinding => ({ level: 'fail', sentence })

/**
 * The cause of an error without wrappers: an error code such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`, else the message.
 * Postgres's codes are numbers, so that its message is used.
 */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return describeError(error.cause)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return /^[A-Z_]+$/.test(code) ? code : error.message || error.name
}

/** Whether a URL's host is this machine, so that its traffic crosses no network. */
export function isLocalHost(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true
  const bare = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback'
}
