/** (refresh, logout) and (ban, sign-in): a revocation is final. */
import type { Session } from '../../schemas/session.ts'
import { legacySession } from '../support/legacy-session.ts'
import {
  findStatement,
  type Pair,
  type RaceOutcome,
  runRaces,
  startedAfter,
  trueFacts,
} from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import type { Users } from '../support/races/users.ts'
import { call, getUser, refresh } from '../support/requests.ts'
import { password, signIn } from '../support/users.ts'

type User = Session & { id: string; email: string }

/** A refresh concurrent with a revocation. */
function ending(users: Users, end: Pair<User>['second']): Pair<User> {
  const { app, createSignedIn, opens } = users
  return {
    invariant: 'After a logout neither earlier tokens nor those of a concurrent refresh are valid.',
    prepare: () => createSignedIn(),
    first: ({ refresh_token }) => refresh(app, refresh_token),
    second: end,
    violations: async ({ refresh_token }, { first, second }) =>
      trueFacts({
        'the logout was rejected': second.statusCode !== 204,
        'the refreshed tokens are valid': await opens(first),
        'the old refresh token is accepted': (await refresh(app, refresh_token)).statusCode === 200,
      }),
  }
}

const logout = (users: Users, scope: string) =>
  ending(users, ({ access_token }) => signOut(users, scope, access_token))

const signOut = ({ app }: Users, scope: string, token: string) =>
  call(app, `/logout?scope=${scope}`, undefined, { method: 'POST', token })

/** Signed out by another session, which stays signed in. */
function others(users: Users): Pair<User> {
  const { app, createSignedIn } = users
  const pair = logout(users, 'others')
  return {
    ...pair,
    async prepare() {
      const user = await createSignedIn()
      const other = (await signIn(app, user)).json<Session>()
      return { ...user, refresh_token: other.refresh_token }
    },
    async violations(stage, outcome) {
      const { statusCode } = await getUser(app, stage)
      const own = trueFacts({ 'the requesting session is signed out': statusCode !== 200 })
      return [...own, ...(await pair.violations(stage, outcome))]
    },
  }
}

const ban = { ban_duration: '24h' }

function banned(users: Users, first: Pair<User>['first']): Pair<User> {
  const { asAdmin, createSignedIn, opens, signsIn } = users
  return {
    invariant: 'After a ban no session is created, and earlier sessions are invalid.',
    prepare: () => createSignedIn(),
    first,
    second: ({ id }) => asAdmin('PUT', `/admin/users/${id}`, ban),
    violations: async ({ email }, outcome) =>
      trueFacts({
        'the ban was rejected': outcome.second.statusCode !== 200,
        'a session was created after the ban':
          outcome.first.statusCode === 200 && beganAfter(outcome),
        'the session is valid': await opens(outcome.first),
        'the banned user signs in': await signsIn(email, password),
      }),
  }
}

function beganAfter(outcome: RaceOutcome): boolean {
  const insert = findStatement(outcome, 'first', /insert into "auth"."sessions"/)
  const commit = findStatement(outcome, 'second', /^commit/)
  return insert !== undefined && commit !== undefined && insert.returned > commit.returned
}

const demoted = { role: 'authenticated' }
const touched = { user_metadata: { touched: true } }

/** A refresh token of GoTrue's older format is accepted only by a statement that began before the ban. */
function bannedLegacy(users: Users): Pair<User & { token: string }> {
  const { app, createSignedIn } = users
  const pair = banned(users, ({ refresh_token }) => refresh(app, refresh_token))
  return {
    ...pair,
    async prepare() {
      const user = await createSignedIn()
      return { ...user, token: await (await legacySession(app, user.id)).add() }
    },
    first: ({ token }) => refresh(app, token),
    async violations({ token }, outcome) {
      const rotation = findStatement(outcome, 'first', /update "auth"."refresh_tokens"/)
      const commit = findStatement(outcome, 'second', /^commit/)
      const isLate = rotation && commit && rotation.sent > commit.returned
      return trueFacts({
        'the ban was rejected': outcome.second.statusCode !== 200,
        'a token was consumed after the ban': outcome.first.statusCode === 200 && isLate === true,
        'the error names no ban':
          outcome.first.statusCode !== 200 && outcome.first.json().error_code !== 'user_banned',
        'the session is valid': await users.opens(outcome.first),
        'the token is accepted': (await refresh(app, token)).statusCode === 200,
      })
    },
  }
}

/** A user with an admin role writes while the role is removed. */
function roleChange(users: Users): Pair<User & { other: string }> {
  const { app, asAdmin, create, createSignedIn } = users
  return {
    invariant: 'After a demotion the user reaches no admin endpoint and writes nothing.',
    async prepare() {
      const user = await createSignedIn({ role: 'service_role' })
      return { ...user, other: (await create()).id }
    },
    first: ({ access_token, other }) =>
      call(app, `/admin/users/${other}`, touched, { method: 'PUT', token: access_token }),
    second: ({ id }) => asAdmin('PUT', `/admin/users/${id}`, demoted),
    async violations({ access_token }, outcome) {
      const { statusCode } = await call(app, '/admin/users', undefined, { token: access_token })
      return trueFacts({
        'the change was rejected': outcome.second.statusCode !== 200,
        'the demoted user writes':
          outcome.first.statusCode === 200 && startedAfter(outcome, 'first'),
        'the demoted user reaches an admin endpoint': statusCode === 200,
      })
    },
  }
}

suiteOfRaces(
  'races for a session: a revocation takes effect',
  {},
  {
    'a refresh and a global logout': (users) => runRaces(logout(users, 'global'), 8),
    'a refresh and a logout of its session': (users) => runRaces(logout(users, 'local'), 8),
    'a refresh and a logout of other sessions': (users) => runRaces(others(users), 8),
    'a refresh and a logout by an admin': (users) =>
      runRaces(
        ending(users, ({ id }) => users.asAdmin('DELETE', `/admin/users/${id}/sessions`)),
        8,
      ),
    'a ban and a sign-in': (users) =>
      runRaces(
        banned(users, ({ email }) => signIn(users.app, { email })),
        8,
      ),
    'a ban and a refresh': (users) =>
      runRaces(
        banned(users, ({ refresh_token }) => refresh(users.app, refresh_token)),
        8,
      ),
    'a ban and a refresh with a token of the older format': (users) =>
      runRaces(bannedLegacy(users), 8),
    'a demotion and a write of the demoted admin': (users) => runRaces(roleChange(users), 8),
  },
)
