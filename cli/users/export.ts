/** `npm run users -- export`: every user with hashes and identities, in the import format. */
import { open, rename, rm, stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { stringify } from 'csv-stringify/sync'

import type { Db } from '../../db/core/database.ts'
import { nilUuid } from '../../db/tables/users.ts'
import { type ExportedUser, exportUsers } from '../../db/users/bulk.ts'
import { escapeFormula, type Format } from '../../modules/user-import/index.ts'
import type { Encryption } from '../../plugins/security/encryption/index.ts'
import type { CommandContext } from '../shared/context.ts'

interface ExportOptions {
  /** Undefined: standard output. */
  file: string | undefined
  format: Format
  batchSize?: number
}

/** Returns the number of users. */
export async function writeUsers(
  { db, encryption }: Pick<CommandContext, 'db' | 'encryption'>,
  options: ExportOptions,
): Promise<number> {
  const { file, format, batchSize = 1000 } = options
  let count = 0
  async function* texts() {
    if (format === 'csv') yield stringify([columns])
    for await (const users of batches(db, batchSize)) {
      count += users.length
      yield render(
        users.map((user) => toRecord(user, decryptPassword(encryption, user))),
        format,
      )
    }
  }
  if (file === undefined) await pipeline(texts, withoutEnd(process.stdout))
  else await writeAtomically(file, (output) => pipeline(texts, output))
  return count
}

async function* batches(db: Db, size: number): AsyncGenerator<ExportedUser[]> {
  let after = nilUuid
  for (;;) {
    const users = await exportUsers(db, after, size)
    const last = users.at(-1)
    if (!last) return
    yield users
    after = last.id
  }
}

/** The hash, decrypted if GoTrue encrypted it. Throws DecryptionError. */
function decryptPassword(encryption: Encryption, { id, encrypted_password }: ExportedUser) {
  return encrypted_password && encryption.decrypt(id, encrypted_password, `The password of ${id}`)
}

function toRecord(user: ExportedUser, passwordHash: string | null) {
  return {
    id: user.id,
    aud: user.aud,
    role: user.role,
    email: user.email,
    phone: user.phone,
    password_hash: passwordHash,
    email_confirmed_at: user.email_confirmed_at,
    phone_confirmed_at: user.phone_confirmed_at,
    invited_at: user.invited_at,
    last_sign_in_at: user.last_sign_in_at,
    created_at: user.created_at,
    updated_at: user.updated_at,
    banned_until: user.banned_until,
    deleted_at: user.deleted_at,
    is_anonymous: user.is_anonymous,
    is_sso_user: user.is_sso_user,
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    identities: user.identities.map(({ id, user_id, email, ...identity }) => identity),
  }
}

type Exported = ReturnType<typeof toRecord>

const columns: (keyof Exported)[] = [
  'id',
  'aud',
  'role',
  'email',
  'phone',
  'password_hash',
  'email_confirmed_at',
  'phone_confirmed_at',
  'invited_at',
  'last_sign_in_at',
  'created_at',
  'updated_at',
  'banned_until',
  'deleted_at',
  'is_anonymous',
  'is_sso_user',
  'app_metadata',
  'user_metadata',
  'identities',
]

function render(records: Exported[], format: Format): string {
  if (format === 'ndjson') return records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const cast = {
    string: escapeFormula,
    date: (value: Date) => value.toISOString(),
    boolean: String,
    object: (value: object) => JSON.stringify(value),
  }
  return stringify(records, { columns, cast })
}

/**
 * Only the owner may read the hashes, also if the file existed with other permissions. Replaced atomically when
 * complete.
 */
async function writeAtomically(
  file: string,
  write: (output: Writable) => Promise<void>,
): Promise<void> {
  if (await isDevice(file)) return write((await open(file, 'w')).createWriteStream())
  const part = `${file}.part`
  await rm(part, { force: true })
  try {
    await write((await open(part, 'wx', 0o600)).createWriteStream())
    await rename(part, file)
  } finally {
    await rm(part, { force: true })
  }
}

/** A pipe or another device. */
async function isDevice(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && !found.isFile()
}

/** A pipeline ends its destination, and standard output must stay open. */
function withoutEnd(output: NodeJS.WriteStream): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => void output.write(chunk, (error) => done(error)),
  })
}
