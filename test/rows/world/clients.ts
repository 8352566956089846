/** OAuth clients with requests in each state. */
import {
  basic,
  callbackUrl,
  createClient,
  makePkce,
  obtainCode,
  postForm,
  registerClient,
  signInClient,
  startAuthorization,
} from '../../support/oauth-server.ts'
import type { App } from '../../support/server.ts'
import type { Accounts } from './accounts.ts'

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const scope = 'openid email profile'

export async function addClients(app: App, { session, bob }: Accounts) {
  const client = await createClient(app, {
    scope: `${scope} phone`,
    client_uri: 'https://app.example',
    grant_types: ['authorization_code', 'refresh_token', deviceGrant],
  })
  const registered: { client_id: string; registration_access_token?: string } =
    await registerClient(app)
  const { challenge } = makePkce()
  const asked = { scope, code_challenge: challenge, code_challenge_method: 'S256' }
  const pushed = { ...asked, redirect_uri: callbackUrl, response_type: 'code' }
  const par = await postForm(app, '/oauth/par', pushed, basic(client))
  return {
    client,
    registered,
    tokens: await signInClient(app, client, session, { scope }),
    code: await obtainCode(app, client, session, { scope, nonce: 'n' }),
    authorization: await startAuthorization(app, client, { ...asked, nonce: 'n', state: 's' }),
    requestUri: par.json<{ request_uri: string }>().request_uri,
    device: await addDevice(app, client),
    approvedDevice: await addApprovedDevice(app, client, bob.user.id),
  }
}

type Client = Awaited<ReturnType<typeof createClient>>

interface DeviceCodes {
  device_code: string
  user_code: string
}

async function addDevice(app: App, client: Client): Promise<DeviceCodes> {
  return (await postForm(app, '/oauth/device_authorization', { scope }, basic(client))).json()
}

async function addApprovedDevice(app: App, client: Client, userId: string): Promise<string> {
  const { device_code, user_code } = await addDevice(app, client)
  const { id } = await app.db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  await app.db
    .updateTable('postern_oauth_device_codes')
    .set({ status: 'approved', user_id: userId, session_id: id, auth_time: new Date() })
    .set({ aal: 'aal1', amr: ['pwd'] })
    .where('user_code', '=', user_code.replace('-', ''))
    .execute()
  return device_code
}
