/** A server that is a SAML service provider, and a browser between it and an identity provider. */
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'

import { call } from '../requests.ts'
import type { App } from '../server.ts'
import { adminToken } from '../users.ts'
import { createIdp, type Idp } from './idp.ts'

const createKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ format: 'der', type: 'pkcs1' })
    .toString('base64')

const spKey = createKey()
export const nextSpKey = createKey()

export const samlOn = { AUTH_SAML_ENABLED: 'true', AUTH_SAML_PRIVATE_KEY: spKey }

export const path = '/admin/sso/providers'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export async function ask(app: App, method: Method, suffix = '', body?: object) {
  const token = await adminToken(app)
  return call(app, `${path}${suffix}`, body, { method, token })
}

/** A configured identity provider. */
export async function addIdp(app: App, more: object = {}, idp = createIdp()): Promise<Known> {
  const body = { type: 'saml', metadata_xml: idp.metadata, ...more }
  const response = await ask(app, 'POST', '', body)
  assert.equal(response.statusCode, 201, response.body)
  return { idp, id: response.json().id }
}

export interface Known {
  idp: Idp
  id: string
}

export interface Begun {
  url: URL
  relayState: string
  requestId: string
  request: string
}

/** POST /sso, as the client SDK sends it. */
export async function begin(app: App, body: object): Promise<Begun> {
  const response = await call(app, '/sso', { skip_http_redirect: true, ...body })
  assert.equal(response.statusCode, 200, response.body)
  const { url, request, relayState } = requestIn(response.json().url)
  return { url, request, relayState, requestId: / ID="([^"]+)"/.exec(request)?.[1] ?? '' }
}

/** The request in the address that the browser is sent to. */
export function requestIn(address: string) {
  const url = new URL(address)
  const deflated = Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')
  const relayState = url.searchParams.get('RelayState') ?? ''
  return { url, request: inflateRawSync(deflated).toString(), relayState }
}

/** The redirect of the assertion consumer service. */
export interface AcsResponse {
  status: number
  location: URL
  query: Record<string, string>
  fragment: Record<string, string>
}

/** The browser posts the message of the identity provider. */
export async function post(app: App, xml: string, relayState = ''): Promise<AcsResponse> {
  const form = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: relayState }
  return postForm(app, form)
}

export async function postForm(app: App, form: Record<string, string>): Promise<AcsResponse> {
  const response = await app.inject({
    method: 'POST',
    url: '/sso/saml/acs',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(form).toString(),
  })
  const location = new URL(String(response.headers.location))
  return {
    status: response.statusCode,
    location,
    query: Object.fromEntries(location.searchParams),
    fragment: Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
  }
}
