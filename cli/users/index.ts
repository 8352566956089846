/** `npm run users`: imports and exports users. */
import { open, rename, rm, stat } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'

import { stringify } from 'csv-stringify/sync'

import type { Db } from '../../db/core/database.ts'
import { nilUuid } from '../../db/tables/users.ts'
import { type ExportedUser, exportUsers } from '../../db/users/bulk.ts'
import {
  describeLeftOut,
  escapeFormula,
  type Format,
  getFileFormat,
} from '../../modules/user-import/index.ts'
import type { Encryption } from '../../plugins/security/encryption/index.ts'
import { auditCommand } from '../shared/audit-command.ts'
import { type CommandContext, withContext } from '../shared/context.ts'
import { importUsers } from './import.ts'
import { createProgressBar } from './progress-bar.ts'

// `npm run users -- export`: every user with hashes and identities, in the import format.

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

export const usage = `npm run users -- import FILE.ndjson|FILE.csv [--dry-run] [--resume | --restart]
npm run users -- export [FILE.ndjson|FILE.csv] [--format ndjson|csv]`

const options = {
  'dry-run': { type: 'boolean', default: false },
  resume: { type: 'boolean', default: false },
  restart: { type: 'boolean', default: false },
  format: { type: 'string' },
} as const

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [name, file, ...rest] = positionals
  if (rest.length > 0 || (values.resume && values.restart)) throw new Error(`Usage:\n${usage}`)
  if (name === 'import' && file && values.format === undefined) {
    const unfinished = values.resume ? 'resume' : values.restart ? 'restart' : undefined
    return withContext(ignoreNotice, (context) =>
      runImport(context, file, values['dry-run'], unfinished),
    )
  }
  if (name !== 'export') throw new Error(`Usage:\n${usage}`)
  const format = readFormat(values.format, file)
  return withContext(ignoreNotice, async (context) => {
    const count = await writeUsers(context, { file, format })
    console.error(`${count} exported`)
  })
}

/** Ignores configuration notices, which concern the server. */
function ignoreNotice(): void {}

async function runImport(
  { db, config }: CommandContext,
  file: string,
  dryRun: boolean,
  unfinished: 'resume' | 'restart' | undefined,
): Promise<void> {
  const startedAt = performance.now()
  getFileFormat(file)
  const defaults = { aud: config.AUTH_JWT_AUD, role: config.AUTH_JWT_DEFAULT_GROUP_NAME }
  const outcome = await importUsers(db, {
    file,
    unfinished,
    dryRun,
    defaults,
    progressBar: createProgressBar(),
    adminRoles: config.AUTH_JWT_ADMIN_ROLES,
    audit: (trx, stored, now) =>
      auditCommand(trx, config, 'users_imported', { command: 'npm run users', now, ...stored }),
  })
  const { imported, refused, reportPath } = outcome
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `${imported} ${dryRun ? 'could be imported' : 'imported'}, ${refused} rejected, ${seconds} s`,
  )
  const leftOut = describeLeftOut(outcome.leftOut)
  if (leftOut) console.log(leftOut)
  if (refused > 0) console.log(`Rejected rows and reasons: ${reportPath}`)
}

function readFormat(given: string | undefined, file: string | undefined): Format {
  if (given === undefined) return file ? getFileFormat(file) : 'ndjson'
  if (given === 'csv' || given === 'ndjson') return given
  throw new Error(`--format ${given} is unknown: use ndjson or csv.`)
}
