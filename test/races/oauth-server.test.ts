/** Exchanges of clients at the same time as a revocation: no session outlives its grant, secret or client. */
import type { OauthClient } from '../../schemas/oauth/client.ts'
import type { Session } from '../../schemas/session.ts'
import {
  basic,
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  oauthServer,
  obtainCode,
  postForm,
  registerClient,
  signInClient,
  startAuthorization,
} from '../support/oauth-server.ts'
import { type Pair, type Response, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import type { Users } from '../support/races/users.ts'
import { call } from '../support/requests.ts'
import type { App } from '../support/server.ts'

const rounds = 8

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

type User = Session & { id: string; email: string }

interface Stage {
  client: OauthClient
  user: User
  exchange: () => Promise<Response>
}

/** The same user in every round: only the client is new. */
function userOnce({ createSignedIn }: Users) {
  let made: Promise<User> | undefined
  return () => {
    made ??= createSignedIn()
    return made
  }
}

const newClient = (app: App) =>
  createClient(app, { grant_types: ['authorization_code', 'refresh_token', deviceGrant] })

async function withCode(app: App, user: User): Promise<Stage> {
  const client = await newClient(app)
  const { code, verifier } = await obtainCode(app, client, user)
  const exchange = () => exchangeCode(app, client, code, { code_verifier: verifier })
  return { client, user, exchange }
}

/** The device code was approved: the row says so. */
async function withDevice(app: App, user: User): Promise<Stage> {
  const client = await newClient(app)
  await signInClient(app, client, user)
  await app.db.deleteFrom('sessions').where('oauth_client_id', '=', client.client_id).execute()
  const asked = await postForm(app, '/oauth/device_authorization', {}, basic(client))
  await app.db
    .updateTable('postern_oauth_device_codes')
    .set({ status: 'approved', user_id: user.id })
    .where('client_id', '=', client.client_id)
    .execute()
  const { device_code } = asked.json()
  const fields = { grant_type: deviceGrant, device_code }
  return { client, user, exchange: () => postForm(app, '/oauth/token', fields, basic(client)) }
}

const hasSession = async ({ db }: App, { client }: Pick<Stage, 'client'>) =>
  (await db
    .selectFrom('sessions')
    .select('id')
    .where('oauth_client_id', '=', client.client_id)
    .executeTakeFirst()) !== undefined

type Prepare = (app: App, user: User) => Promise<Stage>

/** An exchange racing with a revocation, after which the client has no session. */
function exchangeAnd(users: Users, prepare: Prepare, revoke: (stage: Stage) => Promise<Response>) {
  const { app } = users
  const getUser = userOnce(users)
  const pair: Pair<Stage> = {
    invariant: 'A client has no session after the revocation.',
    prepare: async () => prepare(app, await getUser()),
    first: ({ exchange }) => exchange(),
    second: revoke,
    async violations(stage, { first, second }) {
      return trueFacts({
        [`the exchange returned ${first.statusCode}`]: ![200, 400, 401].includes(first.statusCode),
        [`the revocation returned ${second.statusCode}`]: second.statusCode >= 300,
        'the client has a session': await hasSession(app, stage),
      })
    },
  }
  return runRaces(pair, rounds)
}

const revokeGrant =
  ({ app }: Users) =>
  ({ client, user }: Stage) =>
    call(app, `/user/oauth/grants?client_id=${client.client_id}`, undefined, {
      method: 'DELETE',
      token: user.access_token,
    })

const regenerate =
  ({ asAdmin }: Users) =>
  ({ client }: Stage) =>
    asAdmin('POST', `/admin/oauth/clients/${client.client_id}/regenerate_secret`, {})

const deleteClient =
  ({ asAdmin }: Users) =>
  ({ client }: Stage) =>
    asAdmin('DELETE', `/admin/oauth/clients/${client.client_id}`)

const signOutOthers =
  ({ app }: Users) =>
  ({ user }: Stage) =>
    call(app, '/logout?scope=others', undefined, { method: 'POST', token: user.access_token })

function twoExchanges(users: Users) {
  const { app } = users
  const getUser = userOnce(users)
  const pair: Pair<Stage> = {
    invariant: 'A code is exchanged once, and the session is revoked when it is presented twice.',
    prepare: async () => withCode(app, await getUser()),
    first: ({ exchange }) => exchange(),
    second: ({ exchange }) => exchange(),
    async violations(stage, { first, second }) {
      const successes = [first, second].filter(({ statusCode }) => statusCode === 200).length
      return trueFacts({
        [`${successes} exchanges succeeded`]: successes !== 1,
        'the client has a session': await hasSession(app, stage),
      })
    },
  }
  return runRaces(pair, rounds)
}

interface Asked {
  id: string
  client: OauthClient
  user: User
}

function approvalAndRevocation(users: Users) {
  const { app } = users
  const getUser = userOnce(users)
  const pair: Pair<Asked> = {
    invariant: 'An approval and a revocation of an earlier grant both complete.',
    async prepare() {
      const [client, user] = [await newClient(app), await getUser()]
      await signInClient(app, client, user)
      const challenge = { code_challenge: makePkce().challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, { ...challenge, prompt: 'consent' })
      await call(app, `/oauth/authorizations/${id}`, undefined, { token: user.access_token })
      return { id, client, user }
    },
    first: ({ id, user }) =>
      call(
        app,
        `/oauth/authorizations/${id}/consent`,
        { action: 'approve' },
        { token: user.access_token },
      ),
    second: ({ client, user }) =>
      revokeGrant(users)({ client, user, exchange: () => Promise.reject(new Error('none')) }),
    violations: (_stage, { first, second }) =>
      trueFacts({
        [`the approval returned ${first.statusCode}`]: ![200, 404].includes(first.statusCode),
        [`the revocation returned ${second.statusCode}`]: second.statusCode !== 204,
      }),
  }
  return runRaces(pair, rounds)
}

interface Registered {
  client: OauthClient
  token: string
}

function registrationAndAdmin(users: Users) {
  const { app, asAdmin } = users
  const pair: Pair<Registered> = {
    invariant:
      'A client that changes its registration does not restore values that an admin removed.',
    async prepare() {
      const client = await registerClient(app)
      const url = `/admin/oauth/clients/${client.client_id}`
      await asAdmin('PUT', url, { resources: ['https://api.example'] })
      return { client, token: client.registration_access_token ?? '' }
    },
    first: ({ client, token }) =>
      app.inject({
        method: 'PUT',
        url: `/oauth/clients/register/${client.client_id}`,
        headers: { authorization: `Bearer ${token}` },
        payload: { client_name: 'Changed', redirect_uris: [callbackUrl] },
      }),
    second: ({ client }) =>
      asAdmin('PUT', `/admin/oauth/clients/${client.client_id}`, { resources: [] }),
    async violations({ client }, { first, second }) {
      const row = await app.db
        .selectFrom('postern_oauth_clients')
        .select('settings')
        .where('client_id', '=', client.client_id)
        .executeTakeFirstOrThrow()
      return trueFacts({
        [`the client returned ${first.statusCode}`]: first.statusCode !== 200,
        [`the admin returned ${second.statusCode}`]: second.statusCode !== 200,
        'the client has the resource': (row.settings.resources ?? []).length > 0,
      })
    },
  }
  return runRaces(pair, rounds)
}

const env = {
  ...oauthServer,
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
  AUTH_RATE_LIMIT_OAUTH_DYNAMIC_CLIENT_REGISTER: '1000',
}

suiteOfRaces('races of OAuth clients: no session outlives its grant', env, {
  'an exchange of a code and a revocation of the grant': (users) =>
    exchangeAnd(users, withCode, revokeGrant(users)),
  'an exchange of a device code and a revocation of the grant': (users) =>
    exchangeAnd(users, withDevice, revokeGrant(users)),
  'an exchange of a code and a new secret': (users) =>
    exchangeAnd(users, withCode, regenerate(users)),
  'an exchange of a device code and a new secret': (users) =>
    exchangeAnd(users, withDevice, regenerate(users)),
  'an exchange of a code and the deletion of the client': (users) =>
    exchangeAnd(users, withCode, deleteClient(users)),
  'an exchange of a device code and a sign-out of all other sessions': (users) =>
    exchangeAnd(users, withDevice, signOutOthers(users)),
  'two exchanges of one code': twoExchanges,
  'an approval and a revocation of the grant': approvalAndRevocation,
  'a change by the client and a change by an admin': registrationAndAdmin,
})
