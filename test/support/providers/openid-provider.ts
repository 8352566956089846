/** A real OpenID provider on loopback, and a person who signs in to it without a browser. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { TestContext } from 'node:test'

import { type Configuration, Provider as OpenidProvider } from 'oidc-provider'

import { serve } from '../listening.ts'
import { client } from './fake-provider.ts'

export interface OpenidProviderOptions {
  /** Claims of scopes in the id_token, or at the userinfo endpoint only. */
  claimsInIdToken: boolean
  emailVerified?: boolean
  disguise?: Disguise
}

/** As a provider with addresses and habits of its own. */
export interface Disguise {
  /** Path of the issuer. */
  issuer?: string
  /** Its addresses for the standard ones: `/auth`, `/token`, `/me`. */
  paths?: Record<string, string>
  /** Scopes that it understands whatever it is asked for. */
  scope?: string
  pkce?: boolean
  secretInBody?: boolean
  /** Beyond those of everybody. */
  claims?: Record<string, unknown>
}

export async function startOpenidProvider(t: TestContext, options: OpenidProviderOptions) {
  const { disguise = {} } = options
  const server = createServer((request, response) => {
    request.url = standardUrl(request, disguise)
    provider.callback()(request, response)
  })
  const origin = `http://127.0.0.1:${await serve(t, server)}`
  const issuer = origin + (disguise.issuer ?? '')
  const provider = new OpenidProvider(issuer, configurationOf(options))
  return { issuer, origin }
}

function configurationOf(options: OpenidProviderOptions): Configuration {
  const { pkce = true, secretInBody, claims = {} } = options.disguise ?? {}
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [client.redirectUri],
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
        ...{ sub, name: 'Ann Lee', email: `${sub}@ex.test` },
        email_verified: options.emailVerified ?? true,
        ...claims,
      }),
    }),
  }
}

function standardUrl({ url = '/' }: IncomingMessage, { issuer = '', paths = {}, scope }: Disguise) {
  const asked = new URL(url, 'http://127.0.0.1')
  const bare = asked.pathname.startsWith(`${issuer}/`)
    ? asked.pathname.slice(issuer.length)
    : asked.pathname
  const standard = paths[asked.pathname] ?? bare
  if (scope && standard === '/auth') asked.searchParams.set('scope', scope)
  return standard + asked.search
}

/** Follows redirects with cookies, fills in the forms, and returns the callback's parameters. */
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
    if (location?.startsWith(client.redirectUri)) {
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
