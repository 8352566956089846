/** Every status and error code of single sign-on, wallets and custom providers, as GoTrue has them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import * as custom from '../support/custom-providers/requests.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../support/requests.ts'
import {
  buildAssertion,
  buildIdpMetadata,
  buildSamlResponse,
  createIdp,
  type ResponseOptions,
  signedResponse,
} from '../support/saml/idp.ts'
import { addIdp, ask, begin, type Known, post, postForm, samlOn } from '../support/saml/server.ts'
import type { App } from '../support/server.ts'
import { signUpUser } from '../support/users.ts'
import * as web3 from '../support/web3/wallets.ts'

type Outcome = (string | number)[]
type Env = Record<string, string>
type Row = [title: string, expected: Outcome, request: (app: App) => Promise<Outcome>, env?: Env]

const challenge = 'c'.repeat(43)
const uuid = () => crypto.randomUUID()
const host = () => `${uuid()}.example`

const sso = (body: (app: App) => Promise<object> | object) => async (app: App) =>
  statusAndCode(await call(app, '/sso', await body(app)))

const singleSignOn: Row[] = [
  ['POST /sso while SAML is off', [404, 'saml_provider_disabled'], sso(() => ({})), {}],
  [
    'GET /sso/saml/metadata while SAML is off',
    [404, 'saml_provider_disabled'],
    async (app) => statusAndCode(await app.inject('/sso/saml/metadata')),
    {},
  ],
  ['neither provider_id nor domain', [400, 'validation_failed'], sso(() => ({}))],
  [
    'provider_id and domain',
    [400, 'validation_failed'],
    sso(() => ({ provider_id: uuid(), domain: 'corp.example' })),
  ],
  ['a provider_id that is not a UUID', [400, 'bad_json'], sso(() => ({ provider_id: 'corp' }))],
  [
    'the nil UUID',
    [400, 'validation_failed'],
    sso(() => ({ provider_id: '00000000-0000-0000-0000-000000000000' })),
  ],
  [
    'a challenge without method',
    [400, 'validation_failed'],
    sso(() => ({ domain: 'corp.example', code_challenge: challenge })),
  ],
  [
    'a method without challenge',
    [400, 'validation_failed'],
    sso(() => ({ domain: 'corp.example', code_challenge_method: 's256' })),
  ],
  ['an unknown provider', [404, 'sso_provider_not_found'], sso(() => ({ provider_id: uuid() }))],
  ['an unknown domain', [404, 'sso_provider_not_found'], sso(() => ({ domain: host() }))],
  [
    'a disabled provider',
    [404, 'sso_provider_disabled'],
    sso(async (app) => ({ provider_id: (await addIdp(app, { disabled: true })).id })),
  ],
  [
    'a known provider',
    [303, ''],
    async (app) => {
      const { id } = await addIdp(app)
      return [(await call(app, '/sso', { provider_id: id })).statusCode, '']
    },
  ],
  [
    'a known provider with skip_http_redirect',
    [200, ''],
    sso(async (app) => ({ provider_id: (await addIdp(app)).id, skip_http_redirect: true })),
  ],
  [
    'GET /sso/saml/metadata',
    [200, ''],
    async (app) => [(await app.inject('/sso/saml/metadata')).statusCode, ''],
  ],
]

/** Status, `error` and `error_code` of where the browser is sent. */
function toOutcome({ status, query }: Awaited<ReturnType<typeof post>>): Outcome {
  return [status, query.error ?? '', query.error_code ?? '']
}

const respond =
  (options: Partial<ResponseOptions>, provider: object = {}) =>
  async (app: App) => {
    const { idp } = await addIdp(app, provider)
    return toOutcome(await post(app, signedResponse({ idp, ...options })))
  }

const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'

const consumerService: Row[] = [
  [
    'GET /sso/saml/acs',
    [405, 'method_not_allowed'],
    async (app) => statusAndCode(await app.inject('/sso/saml/acs')),
  ],
  ['a valid response', [302, '', ''], respond({})],
  [
    'an artifact',
    [303, 'invalid_request', 'validation_failed'],
    async (app) => toOutcome(await postForm(app, { SAMLart: 'AAQAAA' })),
  ],
  [
    'no response',
    [303, 'invalid_request', 'validation_failed'],
    async (app) => toOutcome(await postForm(app, { SAMLResponse: '' })),
  ],
  [
    'an unsigned response',
    [303, 'invalid_request', 'validation_failed'],
    async (app) => {
      const { idp } = await addIdp(app)
      return toOutcome(await post(app, buildSamlResponse({ idp }, buildAssertion({ idp }))))
    },
  ],
  [
    'an unknown relay state',
    [303, 'server_error', 'saml_relay_state_not_found'],
    async (app) => toOutcome(await post(app, signedResponse({ idp: createIdp() }), uuid())),
  ],
  [
    'a relay state that has expired',
    [303, 'server_error', 'saml_relay_state_expired'],
    async (app) => {
      const { idp, id } = await addIdp(app)
      const { relayState, requestId } = await begin(app, { provider_id: id })
      const old = { created_at: new Date(Date.now() - 130_000) }
      await app.db.updateTable('saml_relay_states').set(old).where('id', '=', relayState).execute()
      return toOutcome(await post(app, signedResponse({ idp, requestId }), relayState))
    },
  ],
  [
    'an unknown issuer',
    [303, 'server_error', 'saml_idp_not_found'],
    async (app) => toOutcome(await post(app, signedResponse({ idp: createIdp() }))),
  ],
  [
    'a disabled provider',
    [303, 'server_error', 'sso_provider_disabled'],
    respond({}, { disabled: true }),
  ],
  [
    'no user id',
    [303, 'invalid_request', 'saml_assertion_no_user_id'],
    respond({ nameIdFormat: transient }),
  ],
  [
    'no email address',
    [303, 'invalid_request', 'saml_assertion_no_email'],
    respond({ attributes: { color: ['blue'] } }),
  ],
  [
    'a new user while sign-ups are disabled',
    [303, 'access_denied', 'signup_disabled'],
    respond({}),
    { ...samlOn, AUTH_DISABLE_SIGNUP: 'true' },
  ],
  [
    'a banned user',
    [303, 'access_denied', 'user_banned'],
    async (app) => {
      const { idp, id } = await addIdp(app)
      await post(app, signedResponse({ idp }))
      const banned_until = new Date(Date.now() + 3_600_000)
      await app.db
        .updateTable('users')
        .set({ banned_until })
        .where('id', 'in', (eb) =>
          eb.selectFrom('identities').select('user_id').where('provider', '=', `sso:${id}`),
        )
        .execute()
      return toOutcome(await post(app, signedResponse({ idp })))
    },
  ],
]

const admin = async (...request: Parameters<typeof ask>) => statusAndCode(await ask(...request))
const create =
  (more: () => object): Row[2] =>
  (app) =>
    admin(app, 'POST', '', { type: 'saml', ...more() })
const change =
  (body: (other: Known) => object): Row[2] =>
  async (app) => {
    const [own, other] = [
      await addIdp(app),
      await addIdp(app, { resource_id: `Res-${uuid()}`, domains: [host()] }),
    ]
    return admin(app, 'PUT', `/${own.id}`, body(other))
  }
const byUser = (path: string) => async (app: App) => {
  const { access_token: token } = await signUpUser(app)
  return statusAndCode(await call(app, path, undefined, { token }))
}
const xml = (edit: (metadata: string) => string) => () => ({
  metadata_xml: edit(createIdp().metadata),
})
const taken = host()

const ssoProviders: Row[] = [
  [
    'no token',
    [401, 'no_authorization'],
    async (app) => statusAndCode(await app.inject('/admin/sso/providers')),
  ],
  ['the token of a user', [403, 'not_admin'], byUser('/admin/sso/providers')],
  ['GET list', [200, ''], (app) => admin(app, 'GET')],
  ['GET list while SAML is off', [200, ''], (app) => admin(app, 'GET'), {}],
  ['POST', [201, ''], create(xml((metadata) => metadata))],
  ['GET one', [200, ''], async (app) => admin(app, 'GET', `/${(await addIdp(app)).id}`)],
  ['PUT', [200, ''], change(() => ({ disabled: true }))],
  ['DELETE', [200, ''], async (app) => admin(app, 'DELETE', `/${(await addIdp(app)).id}`)],
  ...(['GET', 'PUT', 'DELETE'] as const).flatMap((method) =>
    [`/${uuid()}`, '/resource_unknown', '/anything'].map(
      (path): Row => [
        `${method} ${path.replace(/[0-9a-f-]{36}/, '{unknown id}')}`,
        [404, 'sso_provider_not_found'],
        (app) => admin(app, method, path, method === 'PUT' ? {} : undefined),
      ],
    ),
  ),
  [
    'another type',
    [400, 'validation_failed'],
    (app) => admin(app, 'POST', '', { type: 'oidc', metadata_xml: createIdp().metadata }),
  ],
  ['no metadata', [400, 'validation_failed'], create(() => ({}))],
  [
    'both forms of metadata',
    [400, 'validation_failed'],
    create(() => ({
      metadata_xml: createIdp().metadata,
      metadata_url: 'https://idp.example/metadata',
    })),
  ],
  [
    'an address without TLS',
    [400, 'validation_failed'],
    create(() => ({ metadata_url: 'http://idp.example/metadata' })),
  ],
  [
    'an address that cannot be reached',
    [400, 'saml_metadata_fetch_failed'],
    create(() => ({ metadata_url: 'https://127.0.0.1:9/metadata' })),
  ],
  [
    'another NameID format',
    [400, 'validation_failed'],
    create(() => ({ metadata_xml: createIdp().metadata, name_id_format: 'urn:x' })),
  ],
  ['a document that is not XML', [400, 'validation_failed'], create(xml(() => 'no XML'))],
  [
    'metadata without entity id',
    [400, 'validation_failed'],
    create(xml((metadata) => metadata.replace(/ entityID="[^"]+"/, ''))),
  ],
  [
    'metadata of a service provider',
    [400, 'validation_failed'],
    create(xml((metadata) => metadata.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'))),
  ],
  [
    'metadata with two IDPSSODescriptors',
    [400, 'validation_failed'],
    create(
      xml((metadata) => metadata.replace(/(<IDPSSODescriptor.*<\/IDPSSODescriptor>)/, '$1$1')),
    ),
  ],
  [
    'metadata without certificate',
    [400, 'validation_failed'],
    create(() => ({ metadata_xml: buildIdpMetadata('https://idp.example', []) })),
  ],
  [
    'an empty domain',
    [400, 'validation_failed'],
    create(() => ({ metadata_xml: createIdp().metadata, domains: [''] })),
  ],
  [
    'a domain twice in the list',
    [400, 'sso_domain_already_exists'],
    create(() => ({ metadata_xml: createIdp().metadata, domains: ['a.example', 'A.example'] })),
  ],
  [
    'a domain of another provider in other case',
    [400, 'sso_domain_already_exists'],
    async (app) => {
      await addIdp(app, { domains: [taken] })
      const domains = [taken.toUpperCase()]
      return admin(app, 'POST', '', { type: 'saml', metadata_xml: createIdp().metadata, domains })
    },
  ],
  [
    'a mapping of a list to a string',
    [400, 'validation_failed'],
    create(() => ({
      metadata_xml: createIdp().metadata,
      attribute_mapping: { keys: { name: { name: 'cn', array: true } } },
    })),
  ],
  [
    'an entity id that is in use',
    [422, 'saml_idp_already_exists'],
    async (app) => {
      const { idp } = await addIdp(app)
      return admin(app, 'POST', '', { type: 'saml', metadata_xml: idp.metadata })
    },
  ],
  [
    'PUT with metadata of another entity',
    [400, 'saml_entity_id_mismatch'],
    change(() => ({ metadata_xml: createIdp().metadata })),
  ],
  [
    'a resource id of another provider in other case',
    [422, 'conflict'],
    async (app) => {
      const resource_id = `Res-${uuid()}`
      await addIdp(app, { resource_id })
      const body = { type: 'saml', metadata_xml: createIdp().metadata }
      return admin(app, 'POST', '', { ...body, resource_id: resource_id.toLowerCase() })
    },
  ],
]

const wallet = web3.ethereumWallet
const signIn =
  (fields: web3.MessageFields = {}): Row[2] =>
  async (app) => {
    const own = wallet()
    const response = await web3.signInWith(app, own, web3.buildMessage(own, fields))
    const { error } = Object(response.json())
    return [...statusAndCode(response), ...(error ? [error] : [])]
  }
const grant =
  (body: object): Row[2] =>
  async (app) =>
    statusAndCode(await web3.post(app, body))
const invalidGrant = [400, 'invalid_credentials', 'invalid_grant']

const wallets: Row[] = [
  ['both chains off', [422, 'web3_provider_disabled'], grant({}), {}],
  [
    'the chain off',
    [422, 'web3_provider_disabled'],
    grant({ chain: 'ethereum' }),
    { AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true' },
  ],
  ['another chain', [400, 'web3_unsupported_chain'], grant({ chain: 'bitcoin' })],
  ['no message', [400, 'validation_failed'], grant({ chain: 'solana' })],
  ['a short message', [400, 'validation_failed'], grant({ chain: 'solana', message: 'short' })],
  ['a message of another version', [400, 'validation_failed'], signIn({ version: '2' })],
  ['a URI that is not allowed', invalidGrant, signIn({ uri: 'https://evil.example/' })],
  ['another domain', invalidGrant, signIn({ domain: 'evil.example' })],
  ['a message that is not valid yet', invalidGrant, signIn({ notBefore: web3.inSeconds(86_400) })],
  [
    'a message that has expired',
    invalidGrant,
    signIn({ issuedAt: web3.inSeconds(-120), expirationTime: web3.inSeconds(-60) }),
  ],
  ['an old message', invalidGrant, signIn({ issuedAt: web3.inSeconds(-660) })],
  [
    'the signature of another key',
    [400, 'invalid_credentials'],
    async (app) => statusAndCode(await web3.signInWith(app, wallet(), web3.buildMessage(wallet()))),
  ],
  ['a valid message', [200, ''], signIn()],
  [
    'a new user while sign-ups are disabled',
    [422, 'signup_disabled'],
    signIn(),
    { ...web3.walletsOn, AUTH_DISABLE_SIGNUP: 'true' },
  ],
]

const manage = async (...request: Parameters<typeof custom.send>) =>
  statusAndCode(await custom.send(...request))
/** Of the public network: nothing is sent to it. */
const plain = (more: object = {}) =>
  custom.oauth2Input('https://1.1.1.1', { identifier: `custom:${uuid()}`, ...more })
const added = async (app: App, more: object = {}) => {
  const { identifier } = await custom.add(app, plain(more))
  return String(identifier)
}
const idToken =
  (more: object | undefined): Row[2] =>
  async (app) => {
    const provider = more ? await added(app, more) : 'custom:unknown'
    const body = { provider, id_token: `e30.${Buffer.from('{"iss":"x"}').toString('base64url')}.x` }
    return statusAndCode(await call(app, '/token?grant_type=id_token', body))
  }
const invalidProvider: Record<string, object> = {
  'another type': { provider_type: 'saml' },
  'no identifier': { identifier: '' },
  'an identifier without prefix': { identifier: 'acme' },
  'an identifier in upper case': { identifier: 'custom:Acme' },
  'no name': { name: '' },
  'a name of 101 characters': { name: 'x'.repeat(101) },
  'no client_id': { client_id: '' },
  'a client_id of 513 characters': { client_id: 'x'.repeat(513) },
  'no client_secret': { client_secret: '' },
  'no token_url': { token_url: '' },
  'no issuer': { provider_type: 'oidc' },
  'a URL without TLS': { token_url: 'http://1.1.1.1/token' },
  'a URL of 2049 characters': { token_url: `https://1.1.1.1/${'x'.repeat(2033)}` },
  'a private URL': { token_url: 'https://10.0.0.7/token' },
  'a host without address': { token_url: 'https://does-not-exist.invalid/token' },
  'a discovery document that cannot be fetched': {
    provider_type: 'oidc',
    issuer: 'https://10.0.0.7',
  },
  'a reserved parameter': { authorization_params: { state: 'x' } },
  'a mapping to the role': { attribute_mapping: { role: 'team' } },
  'a blank name in the allowlist': { custom_claims_allowlist: [' '] },
}

const customProviders: Row[] = [
  [
    'no token',
    [401, 'no_authorization'],
    async (app) => statusAndCode(await app.inject(custom.path)),
  ],
  ['the token of a user', [403, 'not_admin'], byUser(custom.path)],
  [
    'the feature off',
    [404, 'feature_disabled'],
    (app) => manage(app, 'GET'),
    { AUTH_CUSTOM_OAUTH_ENABLED: 'false' },
  ],
  ['GET list', [200, ''], (app) => manage(app, 'GET')],
  [
    'GET list of an unknown type',
    [400, 'validation_failed'],
    (app) => manage(app, 'GET', '?type=x'),
  ],
  ['POST', [201, ''], (app) => manage(app, 'POST', '', plain())],
  ['GET one', [200, ''], async (app) => manage(app, 'GET', `/${await added(app)}`)],
  ['PUT', [200, ''], async (app) => manage(app, 'PUT', `/${await added(app)}`, {})],
  [
    'DELETE',
    [204, ''],
    async (app) => [(await custom.send(app, 'DELETE', `/${await added(app)}`)).statusCode, ''],
  ],
  ...(['GET', 'PUT', 'DELETE'] as const).flatMap((method): Row[] => {
    const body = method === 'PUT' ? {} : undefined
    return [
      [
        `${method} of an unknown identifier`,
        [404, 'custom_provider_not_found'],
        (app) => manage(app, method, '/custom:unknown', body),
      ],
      [
        `${method} of an identifier without prefix`,
        [400, 'validation_failed'],
        (app) => manage(app, method, '/unknown', body),
      ],
    ]
  }),
  ...Object.entries(invalidProvider).map(
    ([title, more]): Row => [
      `POST with ${title}`,
      [400, 'validation_failed'],
      (app) => manage(app, 'POST', '', plain(more)),
    ],
  ),
  [
    'an identifier that is in use',
    [400, 'conflict'],
    async (app) => manage(app, 'POST', '', plain({ identifier: await added(app) })),
  ],
  [
    'more than the quota',
    [400, 'over_custom_provider_quota'],
    async (app) => {
      await added(app)
      return manage(app, 'POST', '', plain())
    },
    { AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: '1' },
  ],
  [
    'GET /authorize of an unknown provider',
    [400, 'validation_failed'],
    async (app) => statusAndCode(await app.inject('/authorize?provider=custom:unknown')),
  ],
  [
    'GET /authorize of a disabled provider',
    [400, 'validation_failed'],
    async (app) =>
      statusAndCode(
        await app.inject(`/authorize?provider=${await added(app, { enabled: false })}`),
      ),
  ],
  ['an ID token of an unknown provider', [400, 'validation_failed'], idToken(undefined)],
  ['an ID token of an OAuth 2.0 provider', [400, 'validation_failed'], idToken({})],
]

const tables: Record<string, { rows: Row[]; env: Env }> = {
  'POST /sso': { rows: singleSignOn, env: samlOn },
  'POST /sso/saml/acs': { rows: consumerService, env: samlOn },
  '/admin/sso/providers': { rows: ssoProviders, env: samlOn },
  'POST /token?grant_type=web3': { rows: wallets, env: web3.walletsOn },
  '/admin/custom-providers': { rows: customProviders, env: {} },
}

for (const [path, { rows, env }] of Object.entries(tables)) {
  suite(`${path}: statuses and error codes of GoTrue`, () => {
    const server = sharedServers()
    for (const [title, expected, request, own = env] of rows) {
      test(`${title}: ${expected.filter(Boolean).join(' ')}`, async () => {
        const { app } = await server({ AUTH_MAILER_AUTOCONFIRM: 'true', ...own })
        assert.deepEqual(await request(app), expected)
      })
    }
  })
}
