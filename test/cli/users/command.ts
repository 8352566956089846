/** The users command with files of users, and the users in the database. */
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { run } from '../../../cli/users/index.ts'
import { query } from '../../db/sql.ts'
import { type CliProcess, startCli } from '../../support/processes/cli-process.ts'
import { callCommand, commandEnvironment } from '../../support/processes/command-call.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { password } from '../../support/users.ts'

/** Runs the command in this process. */
export function users(databaseUrl: string, ...args: string[]) {
  return callCommand(run, args, { ...commandEnvironment, DATABASE_URL: databaseUrl })
}

/** Starts the command in a process of its own, as the command line does. */
export function startUsers(t: TestContext, databaseUrl: string, ...args: string[]): CliProcess {
  const env = { ...commandEnvironment, DATABASE_URL: databaseUrl }
  return startCli(t, ['users', ...args], { cwd: tmpdir(), env })
}

/** Of the password that users have in all tests. */
export const passwordHash = bcryptHash(password, 4)

export const google = {
  provider: 'google',
  provider_id: '12345',
  identity_data: { email: 'g1@b.co', email_verified: true },
  created_at: '2021-02-03T04:05:06.789Z',
}

/** Each field of a file. */
export const various: unknown[] = [
  { id: crypto.randomUUID(), email: 'ann@example.com', password_hash: passwordHash },
  { phone: '+1 555 0100', phone_confirm: true, role: 'editor', aud: 'others' },
  { email: 'bob@example.com', phone: '15550101', user_metadata: { name: 'Bob "B", é\n', n: null } },
  { email: 'g1@b.co', identities: [google], app_metadata: { plan: 'gold' } },
  { is_anonymous: true, created_at: '2020-02-29T12:00:00+02:00' },
  {
    email: 'sso@example.com',
    is_sso_user: true,
    banned_until: '2030-01-01T00:00:00Z',
    identities: [{ provider: 'sso:1', id: 'x' }],
  },
]

/** Texts stay as they are, everything else is written as JSON. */
export async function writeImportFile(
  t: TestContext,
  name: string,
  rows: unknown[],
): Promise<string> {
  const file = join(temporaryFolder(t, 'users'), name)
  const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)))
  await writeFile(file, `${lines.join('\n')}\n`)
  return file
}

/** All that is stored of every user, in a fixed order. */
export async function listAllUsers(url: string) {
  return query(
    url,
    `select u.*, (select jsonb_agg(jsonb_build_array(provider, provider_id, identity_data, created_at)
      order by provider) from auth.identities where user_id = u.id) as identities
      from auth.users u order by id`,
  )
}
