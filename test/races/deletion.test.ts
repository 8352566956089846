/** (delete, anything): of whoever is deleted nothing is left that lets anybody in. */
import { sql } from 'kysely'

import type { Session } from '../../schemas/session.ts'
import { newAddress, signIn } from '../support/people.ts'
import { factsThatHold, type Pair, racesOf } from '../support/races/pairs.ts'
import { newPassword, type People } from '../support/races/people.ts'
import { type Pairs, suiteOfRaces } from '../support/races/suite.ts'
import { call, changeUser, refresh, verify } from '../support/requests.ts'
import type { App } from '../support/server.ts'

interface Stage extends Session {
  id: string
  email: string
  /** Of a recovery link that was made before. */
  token_hash: string
  soft: boolean
}

type Act = (people: People) => Pair<Stage>['second']

const acts: Record<string, Act> = {
  'a sign-in':
    ({ app }) =>
    ({ email }) =>
      signIn(app, { email }),
  'a refresh':
    ({ app }) =>
    ({ refresh_token }) =>
      refresh(app, refresh_token),
  'a proof by mail':
    ({ app }) =>
    ({ token_hash }) =>
      verify(app, { type: 'recovery', token_hash }),
  'a change of the password': putUser(() => ({ password: newPassword })),
  'a change of the address': putUser(() => ({ email: newAddress() })),
  'a change of metadata': putUser(() => ({ data: { color: 'blue' } })),
  'a sign-out':
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
  'a sign-up with the address': post('/signup', () => ({ password: newPassword })),
  'a link made by an admin': byAdmin('POST', ({ email }) => [
    '/admin/generate_link',
    { type: 'recovery', email },
  ]),
  'a change by an admin': byAdmin('PUT', ({ id }) => [
    `/admin/users/${id}`,
    { password: newPassword, email: newAddress(), email_confirm: true },
  ]),
  'an impersonation': byAdmin('POST', ({ id }) => [`/admin/users/${id}/impersonate`, {}]),
  'another deletion': byAdmin('DELETE', ({ id }) => [`/admin/users/${id}`, {}]),
  'a deletion by themselves':
    ({ app }) =>
    ({ access_token }) =>
      deleteThemselves(app, access_token),
}

const deleteThemselves = (app: App, token: string) =>
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

/** An admin who names a softly deleted person by id may give them an address and a password again. */
const neverSoft = new Set(['a change by an admin'])

function deletion(people: People, name: string, act: Act): Pair<Stage> {
  const { app, asAdmin, createSignedIn, opens } = people
  return {
    invariant:
      'Of whoever is deleted no session, identity, token or flow is left that lets anybody in, whatever they or others did meanwhile.',
    async prepare(seed) {
      const person = await createSignedIn()
      const body = { type: 'recovery', email: person.email }
      const link = await asAdmin('POST', '/admin/generate_link', body)
      const { hashed_token } = link.json<{ hashed_token: string }>()
      return { ...person, token_hash: hashed_token, soft: seed % 4 > 1 && !neverSoft.has(name) }
    },
    first: ({ id, soft }) => {
      return asAdmin('DELETE', `/admin/users/${id}`, { should_soft_delete: soft })
    },
    second: act(people),
    async violations({ id, email, refresh_token, soft }, { first, second }) {
      const left = await leftOf(app, id, email)
      const isDeleted = first.statusCode === 200 || first.statusCode === 404
      return factsThatHold({
        [`the deletion was answered ${first.statusCode}`]: !isDeleted,
        [`left behind: ${left}${soft ? ', softly deleted' : ''}`]: left !== '',
        'the tokens of the other answer open something': await opens(second),
        'the old tokens are accepted': (await refresh(app, refresh_token)).statusCode === 200,
      })
    },
  }
}

/** The person deletes themselves, unless what came first has ended their session. */
function selfDeletion({ app, createSignedIn, opens }: People, second: Pair<Stage>['second']) {
  const pair: Pair<Stage> = {
    invariant:
      'Whoever deleted themselves is gone with all that lets anybody in; whoever was refused had lost their session first.',
    async prepare() {
      return { ...(await createSignedIn()), token_hash: '', soft: false }
    },
    first: ({ access_token }) => deleteThemselves(app, access_token),
    second,
    async violations({ id, email, refresh_token }, { first, second }) {
      const isDeleted = first.statusCode === 204
      const left = isDeleted ? await leftOf(app, id, email) : ''
      const goesOn = (await refresh(app, refresh_token)).statusCode === 200
      return factsThatHold({
        [`the deletion was answered ${first.statusCode}`]: !isDeleted && first.statusCode !== 403,
        'the deletion was refused in a session that lives': !isDeleted && goesOn,
        [`left behind: ${left}`]: left !== '',
        'the tokens of the other answer open something': isDeleted && (await opens(second)),
        'the old tokens are accepted': isDeleted && goesOn,
      })
    },
  }
  return racesOf(pair, 6)
}

/** What would let somebody in. A softly deleted row stays, without password and address. */
async function leftOf({ db }: App, id: string, email: string): Promise<string> {
  const { rows } = await sql<{ what: string }>`
    select 'a session' as what from auth.sessions where user_id = ${id}
    union select 'a token' from auth.one_time_tokens where user_id = ${id}
    union select 'a flow' from auth.flow_state where user_id = ${id}
    union select 'an identity' from auth.identities
      where user_id = ${id} and (identity_data ->> 'email' is not null)
    union select 'a person' from auth.users where id = ${id} and deleted_at is null
    union select 'an address' from auth.users where id = ${id} and email = ${email}
    union select 'a password' from auth.users where id = ${id} and encrypted_password <> ''
    `.execute(db)
  return rows.map(({ what }) => what).join(', ')
}

/** What ends their session, what opens another one, and what writes the same rows. */
const besideThemselves = [
  ...['a sign-in', 'a refresh', 'a change of the password', 'a change of the address'],
  ...['a sign-out', 'a sign-in code', 'a change by an admin', 'another deletion'],
  'a deletion by themselves',
]

const pairs: Pairs = {
  ...Object.fromEntries(
    Object.entries(acts).map(([name, act]) => [
      `a deletion and ${name}`,
      (people: People) => racesOf(deletion(people, name, act), 6),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(acts)
      .filter(([name]) => besideThemselves.includes(name))
      .map(([name, act]) => [
        `themselves and ${name}`,
        (people: People) => selfDeletion(people, act(people)),
      ]),
  ),
}

const env = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', AUTH_USER_SELF_DELETE_ENABLED: 'true' }
suiteOfRaces('races with a deletion', env, pairs)
