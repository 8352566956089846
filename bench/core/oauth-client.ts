/** A client of the OAuth server under test, with the user's consent given by the JSON interface. */
import { createHash, randomBytes } from 'node:crypto'

import type { Target } from './target.ts'
import type { SignedInUser } from './users.ts'

const redirectUri = 'https://bench.example/callback'

interface BenchClient {
  client_id: string
  client_secret: string
}

interface Code {
  code: string
  verifier: string
}

/** A confidential client that sends its secret in the body: both servers take it as JSON. */
export function newClient(target: Target): Promise<BenchClient> {
  return target.call<BenchClient>({
    method: 'POST',
    path: '/admin/oauth/clients',
    token: target.adminToken(),
    body: {
      client_name: 'Bench',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_post',
    },
  })
}

/** A code of the user that is not exchanged yet. */
export async function newCode(
  target: Target,
  { client_id }: BenchClient,
  { access_token: token }: SignedInUser,
): Promise<Code> {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 's256',
  })
  const begun = await target.send({ method: 'GET', path: `/oauth/authorize?${query}` })
  const id = new URL(String(begun.headers.location)).searchParams.get('authorization_id') ?? ''
  const path = `/oauth/authorizations/${id}`
  const details = await target.call<{ redirect_url?: string }>({ method: 'GET', path, token })
  const url = details.redirect_url ?? (await approve(target, path, token))
  return { code: new URL(url).searchParams.get('code') ?? '', verifier }
}

async function approve(target: Target, path: string, token: string): Promise<string> {
  const body = { action: 'approve' }
  const answer = { method: 'POST' as const, path: `${path}/consent`, token, body }
  return (await target.call<{ redirect_url: string }>(answer)).redirect_url
}

/** The exchange of a code as a request. */
export const codeExchange = (client: BenchClient, { code, verifier }: Code) => ({
  method: 'POST' as const,
  path: '/oauth/token',
  body: {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    ...clientCredentials(client),
  },
})

/** The credentials of the client in a body. */
export const clientCredentials = ({ client_id, client_secret }: BenchClient) => ({
  client_id,
  client_secret,
})
