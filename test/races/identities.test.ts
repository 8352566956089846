/** (link, unlink): identities match the responses, and at least one remains. */
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import {
  type ExternalServer,
  externalServer,
  describe as tell,
  verifiedProfile,
} from '../support/external.ts'
import { fetchUser, identityId, link, nextId, unlink } from '../support/linking.ts'
import {
  type Pair,
  type Response,
  runRaces,
  startedAfter,
  trueFacts,
} from '../support/races/pairs.ts'
import { createRaceRunner } from '../support/races/race.ts'
import { createRaceUsers, type Users } from '../support/races/users.ts'
import { bearer, call } from '../support/requests.ts'
import { unnamedStatements } from '../support/statements.ts'
import { newAddress, password } from '../support/users.ts'

interface Stage {
  session: Session
  /** Of the existing identities. */
  email: string
  github: string
  /** GitLab’s callback parameters for linking. */
  callback: Record<string, string>
}

interface Table {
  server: ExternalServer
  users: Users
}

const invariant =
  'The identities match the responses, the account lists their providers, and at least one remains.'

/** A user with a password and GitHub, returning from GitLab. */
async function prepare({ server, users }: Table): Promise<Stage> {
  const { email: address, ...session } = await users.createSignedIn()
  await link(server, session, 'github', verifiedProfile(newAddress(), nextId()))
  const user = await fetchUser(server, session)
  tell(server.fakes, 'gitlab', verifiedProfile(newAddress(), nextId()))
  const start = { path: '/user/identities/authorize', headers: bearer(session) }
  const callback = await server.startSignIn('gitlab', start)
  const [email, github] = [identityId(user, 'email'), identityId(user, 'github')]
  return { session, email, github, callback }
}

const finishSignIn = ({ server }: Table, { callback }: Stage): Promise<Response> =>
  server.app.inject(`/callback?${new URLSearchParams(callback)}`)

const isLinked = ({ headers }: Response) => String(headers.location).includes('access_token=')

/** Inconsistencies of an account that should have these identities. */
async function wrongWith({ server }: Table, { session }: Stage, expected: string[]) {
  const { rows } = await findStored(server, session.user.id)
  const providers = rows.map(({ provider }) => provider).sort()
  const { app_metadata } = await fetchUser(server, session)
  const named = Array.isArray(app_metadata?.providers) ? app_metadata.providers.toSorted() : []
  return trueFacts({
    'no identity is left': providers.length === 0,
    [`there are ${providers.join()} instead of ${expected.join()}`]:
      providers.join() !== expected.join(),
    [`the account names ${named.join()}`]: named.join() !== providers.join(),
  })
}

async function findStored({ app }: ExternalServer, userId: string) {
  const rows = await app.db
    .selectFrom('identities')
    .select('provider')
    .where('user_id', '=', userId)
    .execute()
  return { rows }
}

function linkAndUnlink(table: Table): Pair<Stage> {
  return {
    invariant,
    prepare: () => prepare(table),
    first: (stage) => finishSignIn(table, stage),
    second: ({ session, github }) => unlink(table.server, session, github),
    violations(stage, { first, second }) {
      const github = second.statusCode === 200 ? [] : ['github']
      const gitlab = isLinked(first) ? ['gitlab'] : []
      return wrongWith(table, stage, ['email', ...github, ...gitlab])
    },
  }
}

function unlinkAndUnlink(table: Table): Pair<Stage> {
  return {
    invariant: 'One of two identities can be unlinked, but not both.',
    prepare: () => prepare(table),
    first: ({ session, email }) => unlink(table.server, session, email),
    second: ({ session, github }) => unlink(table.server, session, github),
    violations(stage, { first, second }) {
      const left = [
        ...(first.statusCode === 200 ? [] : ['email']),
        ...(second.statusCode === 200 ? [] : ['github']),
      ]
      return wrongWith(table, stage, left)
    },
  }
}

/** A linking flow that a stolen session started. */
function linkAndEnd(table: Table, end: Pair<Stage>['second']): Pair<Stage> {
  return {
    invariant:
      'A linking flow ends with the session that started it: a later callback links no identity.',
    prepare: () => prepare(table),
    first: (stage) => finishSignIn(table, stage),
    second: end,
    violations: (_stage, outcome) =>
      trueFacts({
        'an identity was linked after the revocation':
          isLinked(outcome.first) && startedAfter(outcome, 'first'),
      }),
  }
}

const pairs: Record<string, (table: Table) => Pair<Stage>> = {
  'linking one and unlinking another identity': linkAndUnlink,
  'unlinking two identities': unlinkAndUnlink,
  'linking and a global logout': (table) =>
    linkAndEnd(table, ({ session: { access_token: token } }) =>
      call(table.server.app, '/logout', undefined, { method: 'POST', token }),
    ),
  'linking and a password change by an admin': (table) =>
    linkAndEnd(table, ({ session }) =>
      table.users.asAdmin('PUT', `/admin/users/${session.user.id}`, {
        password: `${password} changed`,
      }),
    ),
}

suite('identity races: identities match the responses', () => {
  for (const [name, pair] of Object.entries(pairs)) {
    test(name, async (t) => {
      const table = await createTable(t)
      const { app, database } = table.server
      const runner = await createRaceRunner(app.pool, database.url)
      t.after(runner.close)
      await runRaces(pair(table), 8)(runner)
    })
  }
})

async function createTable(t: TestContext): Promise<Table> {
  const server = await externalServer(t, { env: unnamedStatements })
  return { server, users: await createRaceUsers(server) }
}
