/** The secrets of a development server, created once so that tokens and stored data survive a restart. */
import { generateKeyPair, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { replaceFile } from './replace-file.ts'

interface DevSecrets {
  AUTH_JWT_SECRET: string
  AUTH_ENCRYPTION_KEY: string
  AUTH_SAML_PRIVATE_KEY: string
  created_at: Date
}

/** Reads `<dir>/secrets.json` or creates it. Throws an Error with one sentence when neither is possible. */
export async function devSecrets(dir: string, now: Date): Promise<DevSecrets> {
  const file = join(dir, 'secrets.json')
  const { AUTH_SAML_PRIVATE_KEY, ...secrets } = parse(read(file) ?? make(dir, file, now), file)
  // Made apart: it takes longer, and folders of earlier versions lack it.
  return {
    ...secrets,
    AUTH_SAML_PRIVATE_KEY: AUTH_SAML_PRIVATE_KEY ?? (await addSamlKey(file, secrets)),
  }
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

type StoredSecrets = Omit<DevSecrets, 'AUTH_SAML_PRIVATE_KEY'> & { AUTH_SAML_PRIVATE_KEY?: string }

function parse(text: string, file: string): StoredSecrets {
  try {
    const { created_at, ...secrets } = JSON.parse(text)
    const date = new Date(created_at)
    const isWhole = secrets.AUTH_JWT_SECRET && secrets.AUTH_ENCRYPTION_KEY
    if (!isWhole || Number.isNaN(date.getTime())) throw new Error()
    return { ...secrets, created_at: date }
  } catch {
    throw new Error(
      `${file} is damaged: restore it from a copy, or remove the whole folder to start over.`,
    )
  }
}

/** In a thread of its own, because it takes long. */
async function addSamlKey(file: string, secrets: StoredSecrets): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  const AUTH_SAML_PRIVATE_KEY = privateKey.toString('base64')
  try {
    replaceFile(file, JSON.stringify({ ...secrets, AUTH_SAML_PRIVATE_KEY }))
  } catch (error) {
    throw unusable(file, error)
  }
  return AUTH_SAML_PRIVATE_KEY
}

function unusable(file: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${file} cannot be used (${reason}): give this user read and write access.`, {
    cause,
  })
}
