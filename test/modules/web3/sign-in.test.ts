/** POST /token?grant_type=web3: session, identity and audit log of wallet sign-ins. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import type { Session } from '../../../schemas/session.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, refresh, statusAndCode } from '../../support/requests.ts'
import { bodyOf200 } from '../../support/users.ts'
import {
  buildMessage,
  ethereumWallet,
  type MessageFields,
  post,
  signInWith,
  site,
  siweMessage,
  solanaWallet,
  type Wallet,
  wallets,
  walletsOn,
} from '../../support/web3/wallets.ts'

const newSignIn = (wallet: Wallet): [Wallet, string] => [wallet, buildMessage(wallet)]

/** Each means the same 65 bytes. */
const spellings: Record<string, (signature: string) => string> = {
  'upper-case digits': (signature) => signature.toUpperCase(),
  'a recovery id of 0 or 1': (signature) =>
    signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01'),
}

/** Each is the host of the URI. */
const spelledDomains: Record<string, MessageFields> = {
  'a scheme and a name': { domain: 'https://app.example' },
  'localhost, a scheme and a port': {
    domain: 'http://localhost:3000',
    uri: 'http://localhost:3000/sign-in',
  },
  'a punycode name and top-level domain': {
    domain: 'xn--e1ajbdn4d5c.xn--p1ai',
    uri: 'https://xn--e1ajbdn4d5c.xn--p1ai/sign-in',
  },
  'a Unicode name and top-level domain': {
    domain: 'кошелёк.рф',
    uri: 'https://кошелёк.рф/sign-in',
  },
}

suite('POST /token?grant_type=web3', () => {
  const server = serversOnOneDatabase()

  test('creates a user for a message created and signed by viem', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const session: Session = bodyOf200(await signInWith(app, wallet, siweMessage(wallet)))
    const { user } = session
    assert.deepEqual([user.email, user.phone], ['', ''])
    assert.deepEqual(user.app_metadata, { provider: 'web3', providers: ['web3'] })
    const id = `web3:ethereum:${wallet.address}`
    const [identity] = user.identities ?? []
    assert.equal(identity?.id, id)
    assert.deepEqual(identity?.identity_data, {
      sub: id,
      email_verified: false,
      phone_verified: false,
      custom_claims: {
        address: wallet.address,
        chain: 'ethereum',
        network: '1',
        domain: 'app.example',
        statement: 'Sign in to the example.',
      },
    })
    const amr = decodeJwt(session.access_token).amr
    assert.ok(Array.isArray(amr))
    assert.equal(amr[0].method, 'web3')
  })

  for (const [chain, newWallet] of Object.entries(wallets)) {
    test(`signs a known ${chain} wallet in again as the same user`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const first: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
      const second: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
      assert.equal(second.user.id, first.user.id)
      bodyOf200(await refresh(app, second.refresh_token))
    })

    test(`accepts a ${chain} message without statement and Chain ID`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const message = buildMessage(wallet, { statement: undefined, chainId: undefined })
      const { user }: Session = bodyOf200(await signInWith(app, wallet, message))
      const { network, statement } = Object(user.user_metadata.custom_claims)
      assert.deepEqual([network, statement], ['', chain === 'ethereum' ? null : ''])
    })
  }

  for (const [chain, newWallet] of Object.entries(wallets)) {
    for (const [title, fields] of Object.entries(spelledDomains)) {
      test(`accepts a ${chain} message with ${title} as domain`, async () => {
        const { app } = await server({
          ...walletsOn,
          AUTH_URI_ALLOW_LIST: `${walletsOn.AUTH_URI_ALLOW_LIST},https://кошелёк.рф/**`,
        })
        const wallet = newWallet()
        bodyOf200(await signInWith(app, wallet, buildMessage(wallet, fields)))
      })
    }
  }

  test('matches an Ethereum address in another case and keeps the first spelling', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const lower = { ...wallet, address: wallet.address.toLowerCase() }
    const first: Session = bodyOf200(await signInWith(app, lower, buildMessage(lower)))
    const second: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    assert.equal(second.user.id, first.user.id)
    assert.deepEqual(
      second.user.identities?.map(({ id }) => id),
      [`web3:ethereum:${lower.address}`],
    )
  })

  test('prefers the exact spelling in a GoTrue database with both', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const lower = { ...wallet, address: wallet.address.toLowerCase() }
    const first: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    const another: Session = bodyOf200(await signInWith(app, ...newSignIn(ethereumWallet())))
    await app.db
      .updateTable('identities')
      .set({ provider_id: `web3:ethereum:${lower.address}` })
      .where('user_id', '=', another.user.id)
      .execute()
    const ofWallet: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    const ofLower: Session = bodyOf200(await signInWith(app, lower, buildMessage(lower)))
    assert.deepEqual([ofWallet.user.id, ofLower.user.id], [first.user.id, another.user.id])
  })

  test('distinguishes Solana addresses by case', async () => {
    const { app } = await server(walletsOn)
    const [wallet, other] = [solanaWallet(), solanaWallet()]
    const first: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    const swapped = other.address.replace(/[a-z]/g, (letter) => letter.toUpperCase())
    await app.db
      .updateTable('identities')
      .set({ provider_id: `web3:solana:${swapped}` })
      .where('user_id', '=', first.user.id)
      .execute()
    const second: Session = bodyOf200(await signInWith(app, other, buildMessage(other)))
    assert.notEqual(second.user.id, first.user.id)
  })

  test('verifies the off-chain envelope of a hardware wallet', async () => {
    const { app } = await server(walletsOn)
    const wallet = solanaWallet()
    const message = buildMessage(wallet)
    const signature = await wallet.signOffChain(message)
    bodyOf200(await post(app, { chain: 'solana', message, signature }))
  })

  test('accepts a Solana signature in padded base64', async () => {
    const { app } = await server(walletsOn)
    const wallet = solanaWallet()
    const message = buildMessage(wallet)
    const signature = Buffer.from(await wallet.sign(message), 'base64url').toString('base64')
    assert.equal(signature.length, 88)
    bodyOf200(await post(app, { chain: 'solana', message, signature }))
  })

  for (const [title, respell] of Object.entries(spellings)) {
    test(`accepts an Ethereum signature with ${title}`, async () => {
      const { app } = await server(walletsOn)
      const wallet = ethereumWallet()
      const message = buildMessage(wallet)
      const signature = respell(await wallet.sign(message))
      bodyOf200(await post(app, { chain: 'ethereum', message, signature }))
    })
  }

  test('accepts the Resources line without colon that @supabase/auth-js writes', async () => {
    const { app } = await server(walletsOn)
    const wallet = solanaWallet()
    const more = ['Nonce: 1', 'Resources', '- https://app.example/terms']
    bodyOf200(await signInWith(app, wallet, buildMessage(wallet, { more })))
  })

  test('has a rate limit separate from refresh tokens', async () => {
    const limits = { AUTH_RATE_LIMIT_HEADER: 'x-real-ip', AUTH_RATE_LIMIT_WEB3: '2' }
    const { app } = await server({ ...walletsOn, ...limits })
    const headers = { 'x-real-ip': '192.0.2.7' }
    const send = async () =>
      statusAndCode(await call(app, '/token?grant_type=web3', {}, { headers }))
    assert.deepEqual(await send(), [400, 'web3_unsupported_chain'])
    await send()
    assert.deepEqual(await send(), [429, 'over_request_rate_limit'])
    const refreshed = await call(app, '/token?grant_type=refresh_token', {}, { headers })
    assert.equal(refreshed.statusCode, 400)
  })

  test('records the sign-up, the sign-in and the chain in the audit log', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const { user }: Session = bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    bodyOf200(await signInWith(app, wallet, buildMessage(wallet)))
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const ours = rows
      .map(({ payload }) => Object(payload))
      .filter(({ actor_id }) => actor_id === user.id)
    assert.deepEqual(ours.map(({ action }) => action).toSorted(), ['login', 'user_signedup'])
    for (const { traits } of ours) {
      assert.deepEqual(traits, {
        provider: 'web3',
        chain: 'ethereum',
        network: '1',
        address: wallet.address,
        domain: 'app.example',
        uri: `${site}/sign-in`,
      })
    }
  })
})
