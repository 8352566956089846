/** (delete, any): nothing of a deleted user can sign in. */
import { sql } from 'kysely'

import type { Session } from '../../schemas/session.ts'
import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { type Pairs, suiteOfRaces } from '../support/races/suite.ts'
import { newPassword, type Users } from '../support/races/users.ts'
import { call, changeUser, refresh, verify } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { newAddress, signIn } from '../support/users.ts'

interface Stage extends Session {
  id: string
  email: string
  /** The token hash of an earlier recovery link. */
  token_hash: string
  soft: boolean
}

type Act = (users: Users) => Pair<Stage>['second']

const acts: Record<string, Act> = {
  'a sign-in':
    ({ app }) =>
    ({ email }) =>
      signIn(app, { email }),
  'a refresh':
    ({ app }) =>
    ({ refresh_token }) =>
      refresh(app, refresh_token),
  'a recovery link':
    ({ app }) =>
    ({ token_hash }) =>
      verify(app, { type: 'recovery', token_hash }),
  'a password change': putUser(() => ({ password: newPassword })),
  'an email change': putUser(() => ({ email: newAddress() })),
  'a metadata change': putUser(() => ({ data: { color: 'blue' } })),
  'a logout':
    ({ app }) =>
    ({ access_token }) =>
      call(app, '/logout', undefined, { method: 'POST', token: access_token }),
  'a reauthentication':
    ({ app }) =>
    ({ access_token }) =>
      call(app, '/reauthenticate', undefined, { token: access_token }),
  'a recovery': post('/recover', () => ({})),
  'a magic link': post('/magiclink', () => ({})),
  'a sign-in code': post('/otp', () => ({ create_user: false })),
  'a sign-up with the email': post('/signup', () => ({ password: newPassword })),
  'a link created by an admin': byAdmin('POST', ({ email }) => [
    '/admin/generate_link',
    { type: 'recovery', email },
  ]),
  'a change by an admin': byAdmin('PUT', ({ id }) => [
    `/admin/users/${id}`,
    { password: newPassword, email: newAddress(), email_confirm: true },
  ]),
  'an impersonation': byAdmin('POST', ({ id }) => [`/admin/users/${id}/impersonate`, {}]),
  'another deletion': byAdmin('DELETE', ({ id }) => [`/admin/users/${id}`, {}]),
  'a deletion by the user':
    ({ app }) =>
    ({ access_token }) =>
      deleteCurrentUser(app, access_token),
}

const deleteCurrentUser = (app: App, token: string) =>
  call(app, '/user', undefined, { method: 'DELETE', token })

function putUser(body: () => object): Act {
  return ({ app }) =>
    ({ access_token }) =>
      changeUser(app, access_token, body())
}

function post(url: string, more: () => object): Act {
  return ({ app }) =>
    ({ email }) =>
      call(app, url, { email, ...more() })
}

function byAdmin(
  method: 'POST' | 'PUT' | 'DELETE',
  request: (stage: Stage) => [url: string, body: object],
): Act {
  return ({ asAdmin }) =>
    (stage) =>
      asAdmin(method, ...request(stage))
}

/** An admin may give a soft-deleted user an email and a password again, by id. */
const neverSoft = new Set(['a change by an admin'])

function deletion(users: Users, name: string, act: Act): Pair<Stage> {
  const { app, asAdmin, createSignedIn, opens } = users
  return {
    invariant:
      'No session, identity, token or flow of a deleted user can sign in, whatever happens concurrently.',
    async prepare(seed) {
      const user = await createSignedIn()
      const body = { type: 'recovery', email: user.email }
      const link = await asAdmin('POST', '/admin/generate_link', body)
      const { hashed_token } = link.json<{ hashed_token: string }>()
      return { ...user, token_hash: hashed_token, soft: seed % 4 > 1 && !neverSoft.has(name) }
    },
    first: ({ id, soft }) => {
      return asAdmin('DELETE', `/admin/users/${id}`, { should_soft_delete: soft })
    },
    second: act(users),
    async violations({ id, email, refresh_token, soft }, { first, second }) {
      const left = await findRemainingRows(app, id, email)
      const isDeleted = first.statusCode === 200 || first.statusCode === 404
      return trueFacts({
        [`the deletion returned ${first.statusCode}`]: !isDeleted,
        [`left behind: ${left}${soft ? ', softly deleted' : ''}`]: left !== '',
        'the tokens of the other response are valid': await opens(second),
        'the old tokens are accepted': (await refresh(app, refresh_token)).statusCode === 200,
      })
    },
  }
}

/** The user deletes the account unless the session was revoked first. */
function selfDeletion({ app, createSignedIn, opens }: Users, second: Pair<Stage>['second']) {
  const pair: Pair<Stage> = {
    invariant:
      'A self-deleted user has no credentials left; a rejected deletion had lost its session first.',
    async prepare() {
      return { ...(await createSignedIn()), token_hash: '', soft: false }
    },
    first: ({ access_token }) => deleteCurrentUser(app, access_token),
    second,
    async violations({ id, email, refresh_token }, { first, second }) {
      const isDeleted = first.statusCode === 204
      const left = isDeleted ? await findRemainingRows(app, id, email) : ''
      const goesOn = (await refresh(app, refresh_token)).statusCode === 200
      return trueFacts({
        [`the deletion returned ${first.statusCode}`]: !isDeleted && first.statusCode !== 403,
        'the deletion was rejected in a valid session': !isDeleted && goesOn,
        [`left behind: ${left}`]: left !== '',
        'the tokens of the other response are valid': isDeleted && (await opens(second)),
        'the old tokens are accepted': isDeleted && goesOn,
      })
    },
  }
  return runRaces(pair, 6)
}

/** Credentials of the user. A soft-deleted row stays without password and email. */
async function findRemainingRows({ db }: App, id: string, email: string): Promise<string> {
  const { rows } = await sql<{ what: string }>`
    select 'a session' as what from auth.sessions where user_id = ${id}
    union select 'a token' from auth.one_time_tokens where user_id = ${id}
    union select 'a flow' from auth.flow_state where user_id = ${id}
    union select 'an identity' from auth.identities
      where user_id = ${id} and (identity_data ->> 'email' is not null)
    union select 'a user' from auth.users where id = ${id} and deleted_at is null
    union select 'an address' from auth.users where id = ${id} and email = ${email}
    union select 'a password' from auth.users where id = ${id} and encrypted_password <> ''
    `.execute(db)
  return rows.map(({ what }) => what).join(', ')
}

/** Requests that revoke the session, create another one or write the same rows. */
const racedBySelfDeletion = [
  'a sign-in',
  'a refresh',
  'a password change',
  'an email change',
  'a logout',
  'a sign-in code',
  'a change by an admin',
  'another deletion',
  'a deletion by the user',
]

const pairs: Pairs = {
  ...Object.fromEntries(
    Object.entries(acts).map(([name, act]) => [
      `a deletion and ${name}`,
      (users: Users) => runRaces(deletion(users, name, act), 6),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(acts)
      .filter(([name]) => racedBySelfDeletion.includes(name))
      .map(([name, act]) => [
        `themselves and ${name}`,
        (users: Users) => selfDeletion(users, act(users)),
      ]),
  ),
}

const env = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', AUTH_USER_SELF_DELETE_ENABLED: 'true' }
suiteOfRaces('races with a deletion: a deleted user cannot sign in', env, pairs)
