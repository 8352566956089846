/** A real OpenID provider on loopback, and a user who signs in without a browser. */
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'

import { type Configuration, Provider as OpenidProvider } from 'oidc-provider'

import { serve } from '../processes/listening.ts'
import { client, ownRedirectUri } from './fake-provider.ts'
import { createServer } from './tls.ts'

export interface OpenidProviderOptions {
  /** Claims of scopes in the id_token, or at the userinfo endpoint only. */
  claimsInIdToken: boolean
  emailVerified?: boolean
  variant?: ProviderVariant
  https?: boolean
}

/** As a provider with its own endpoints and claims. */
export interface ProviderVariant {
  /** Path of the issuer. */
  issuer?: string
  /** Its paths for the standard endpoints: `/auth`, `/token`, `/me`. */
  paths?: Record<string, string>
  /** Supported scopes besides the requested ones. */
  scope?: string
  pkce?: boolean
  secretInBody?: boolean
  /** Beyond those of every user. */
  claims?: Record<string, unknown>
}

export async function startOpenidProvider(t: TestContext, options: OpenidProviderOptions) {
  const { variant = {}, https = false } = options
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    request.url = standardUrl(request, variant)
    provider.callback()(request, response)
  }
  const server = createServer(listener, { https })
  const origin = `${https ? 'https' : 'http'}://127.0.0.1:${await serve(t, server)}`
  const issuer = origin + (variant.issuer ?? '')
  const provider = new OpenidProvider(issuer, createConfiguration(options))
  return { issuer, origin }
}

function createConfiguration(options: OpenidProviderOptions): Configuration {
  const { pkce = true, secretInBody, claims = {} } = options.variant ?? {}
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri, ownRedirectUri('custom:acme')],
        response_types: ['code'],
        ...(secretInBody && { token_endpoint_auth_method: 'client_secret_post' }),
      },
    ],
    cookies: { keys: ['loopback'] },
    pkce: { required: () => pkce },
    conformIdTokenClaims: !options.claimsInIdToken,
    claims: {
      openid: ['sub', ...Object.keys(claims)],
      email: ['email', 'email_verified'],
      profile: ['name'],
    },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        name: 'Ann Lee',
        email: `${sub}@ex.test`,
        email_verified: options.emailVerified ?? true,
        ...claims,
      }),
    }),
  }
}

function standardUrl(
  { url = '/' }: IncomingMessage,
  { issuer = '', paths = {}, scope }: ProviderVariant,
) {
  const requested = new URL(url, 'http://127.0.0.1')
  const bare = requested.pathname.startsWith(`${issuer}/`)
    ? requested.pathname.slice(issuer.length)
    : requested.pathname
  const standard = paths[requested.pathname] ?? bare
  if (scope && standard === '/auth') requested.searchParams.set('scope', scope)
  return standard + requested.search
}

/** Follows redirects with cookies, fills in forms, and returns the callback’s parameters. */
export async function signInAs(login: string, url: URL): Promise<Record<string, string>> {
  const cookies = new Map<string, string>()
  let next: { url: URL; form?: URLSearchParams } = { url }
  for (let step = 0; step < 12; step++) {
    const response = await fetch(next.url, {
      ...(next.form && { method: 'POST', body: next.form }),
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      redirect: 'manual',
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location?.startsWith(new URL(client.redirectUri).origin)) {
      return Object.fromEntries(new URL(location).searchParams)
    }
    next = location ? { url: new URL(location, next.url) } : await fillIn(response, login, next.url)
  }
  throw new Error('the sign-in goes round in circles')
}

async function fillIn(response: Response, login: string, base: URL) {
  const page = await response.text()
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
  const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
  assert.ok(action && prompt, `${response.status} ${page.slice(0, 300)}`)
  return { url: new URL(action, base), form: new URLSearchParams({ prompt, login, password: 'x' }) }
}
