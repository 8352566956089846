/** The secrets of a development server, created once so that tokens and stored data survive a restart. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface DevSecrets {
  AUTH_JWT_SECRET: string
  AUTH_ENCRYPTION_KEY: string
  created_at: Date
}

/** Reads `<dir>/secrets.json` or creates it. Throws an Error with one sentence when neither is possible. */
export function devSecrets(dir: string, now: Date): DevSecrets {
  const file = join(dir, 'secrets.json')
  return parse(read(file) ?? make(dir, file, now), file)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw unusable(file, error)
  }
}

function make(dir: string, file: string, now: Date): string {
  const text = JSON.stringify({
    AUTH_JWT_SECRET: randomBytes(32).toString('base64url'),
    AUTH_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    created_at: now.toISOString(),
  })
  try {
    mkdirSync(dir, { recursive: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw unusable(file, error)
  }
  return text
}

function parse(text: string, file: string): DevSecrets {
  try {
    const { AUTH_JWT_SECRET, AUTH_ENCRYPTION_KEY, created_at } = JSON.parse(text)
    const date = new Date(created_at)
    if (!AUTH_JWT_SECRET || !AUTH_ENCRYPTION_KEY || Number.isNaN(date.getTime())) throw new Error()
    return { AUTH_JWT_SECRET, AUTH_ENCRYPTION_KEY, created_at: date }
  } catch {
    throw new Error(
      `${file} is damaged: restore it from a copy, or remove the whole folder to start over.`,
    )
  }
}

function unusable(file: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${file} cannot be used (${reason}): give this user read and write access.`, {
    cause,
  })
}
