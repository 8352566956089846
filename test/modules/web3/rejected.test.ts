/** POST /token?grant_type=web3: each check by a message that fails it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { secp256k1 } from '@noble/curves/secp256k1.js'

import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { bodyOf200 } from '../../support/users.ts'
import {
  buildMessage,
  ethereumWallet,
  inSeconds,
  type MessageFields,
  post,
  signInWith,
  solanaWallet,
  type Wallet,
  wallets,
  walletsOn,
} from '../../support/web3/wallets.ts'

/** Rejected wallet messages, by reason. */
const malformed: Record<string, (wallet: Wallet) => string> = {
  'shorter than 64 bytes': () => 'too short',
  'longer than 20480 bytes': (wallet) => buildMessage(wallet, { statement: 'x'.repeat(20_480) }),
  'with carriage returns': (wallet) => buildMessage(wallet).replaceAll('\n', '\r\n'),
  'of five lines': (wallet) => buildMessage(wallet).split('\n').slice(0, 5).join('\n'),
  'of the other chain': (wallet) =>
    buildMessage(wallet).replace(/(Ethereum|Solana) account/, (found) =>
      found.startsWith('E') ? 'Solana account' : 'Ethereum account',
    ),
  'with text after the header': (wallet) =>
    buildMessage(wallet).replace('account:', 'account: now'),
  'with an invalid scheme': (wallet) => buildMessage(wallet, { domain: '1s://app.example' }),
  'with two schemes': (wallet) => buildMessage(wallet, { domain: 'https://https://app.example' }),
  'with a hyphen at the end of a label': (wallet) =>
    buildMessage(wallet, { domain: 'app-.example' }),
  'with an empty punycode label': (wallet) => buildMessage(wallet, { domain: 'app.xn--' }),
  'with an IP address as domain': (wallet) => buildMessage(wallet, { domain: '127.0.0.1:3000' }),
  'with userinfo in the domain': (wallet) => buildMessage(wallet, { domain: 'me@app.example' }),
  'with a single-label domain': (wallet) => buildMessage(wallet, { domain: 'intranet' }),
  'with digits as last label': (wallet) => buildMessage(wallet, { domain: 'app.example2' }),
  'with an address that is too short': (wallet) =>
    buildMessage(wallet, { address: wallet.address.slice(0, 20) }),
  'without an empty third line': (wallet) => buildMessage(wallet).replace('\n\n', '\nx\n'),
  'with a line without colon': (wallet) => buildMessage(wallet, { more: ['no colon here'] }),
  'of another version': (wallet) => buildMessage(wallet, { version: '2' }),
  'without version': (wallet) => buildMessage(wallet).replace('Version: 1\n', ''),
  'without URI': (wallet) => buildMessage(wallet).replace(/URI: .*\n/, ''),
  'with an invalid URI': (wallet) => buildMessage(wallet, { uri: 'not a uri' }),
  'with an invalid resource URI': (wallet) =>
    buildMessage(wallet, { more: ['Resources:', '- not a uri'] }),
  'without Issued At': (wallet) => buildMessage(wallet, { issuedAt: undefined }),
  'with a date that does not exist': (wallet) =>
    buildMessage(wallet, { issuedAt: '2026-02-30T00:00:00Z' }),
  'with a time without zone': (wallet) => buildMessage(wallet, { issuedAt: '2026-02-03T00:00:00' }),
  'issued after it expires': (wallet) => buildMessage(wallet, { expirationTime: inSeconds(-60) }),
  'that expires before it becomes valid': (wallet) =>
    buildMessage(wallet, { notBefore: inSeconds(120), expirationTime: inSeconds(60) }),
}

const malformedByChain: Record<Wallet['chain'], Record<string, (wallet: Wallet) => string>> = {
  ethereum: {
    ...malformed,
    'with an empty Chain ID': (wallet) => buildMessage(wallet, { chainId: '' }),
    'with a Chain ID of 0': (wallet) => buildMessage(wallet, { chainId: '0' }),
    'with a Chain ID that is not a number': (wallet) =>
      buildMessage(wallet, { chainId: 'mainnet' }),
  },
  solana: {
    ...malformed,
    'with a Chain ID of another network': (wallet) => buildMessage(wallet, { chainId: 'mainnet' }),
    'with an address that is not 32 bytes': (wallet) =>
      buildMessage(wallet, { address: '1'.repeat(44) }),
    'with an address outside of base58': (wallet) =>
      buildMessage(wallet, { address: `0${wallet.address.slice(1)}` }),
  },
}

/** Well-formed messages for another server or time: 400 invalid_grant. */
const unacceptable: Record<string, MessageFields> = {
  'whose URI is not https': { uri: 'http://app.example/sign-in' },
  'whose URI is not allowed as redirect': {
    domain: 'evil.example',
    uri: 'https://evil.example/sign-in',
  },
  'whose domain differs from its URI': { domain: 'evil.example' },
  'whose domain has another port than its URI': { domain: 'app.example:8443' },
  'whose scheme differs from that of its URI': { domain: 'http://app.example' },
  'of localhost at another port than its URI': {
    domain: 'localhost:4000',
    uri: 'http://localhost:3000/sign-in',
  },
  'of an internationalized domain that is not allowed': {
    domain: 'evil.xn--p1ai',
    uri: 'https://evil.xn--p1ai/sign-in',
  },
  'of another domain whose URI is on localhost': {
    domain: 'evil.example',
    uri: 'http://localhost:3000/sign-in',
  },
  'that is not valid yet': { notBefore: inSeconds(86_400) },
  'that has expired': { issuedAt: inSeconds(-120), expirationTime: inSeconds(-60) },
  'that was issued too long ago': { issuedAt: inSeconds(-660) },
  'that was issued too far in the future': { issuedAt: inSeconds(86_400) },
}

suite('POST /token?grant_type=web3 rejects', () => {
  const server = serversOnOneDatabase()

  for (const [chain, newWallet] of Object.entries(wallets)) {
    const name = chain === 'ethereum' ? 'ethereum' : 'solana'
    for (const [title, make] of Object.entries(malformedByChain[name])) {
      test(`a ${chain} message ${title} with validation_failed`, async () => {
        const { app } = await server(walletsOn)
        const wallet = newWallet()
        const response = await signInWith(app, wallet, make(wallet))
        assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
      })
    }

    for (const [title, fields] of Object.entries(unacceptable)) {
      test(`a ${chain} message ${title} with invalid_grant`, async () => {
        const { app } = await server(walletsOn)
        const wallet = newWallet()
        assertInvalidGrant(await signInWith(app, wallet, buildMessage(wallet, fields)))
      })
    }

    test(`a ${chain} message signed by another key`, async () => {
      const { app } = await server(walletsOn)
      const message = buildMessage(newWallet())
      assertInvalidGrant(await signInWith(app, newWallet(), message))
    })

    test(`a ${chain} message with one changed letter`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const message = buildMessage(wallet)
      const signature = await wallet.sign(message)
      const changed = message.replace('Sign in.', 'Sign in!')
      assertInvalidGrant(await post(app, { chain, message: changed, signature }))
    })

    test(`a ${chain} message the second time`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const message = buildMessage(wallet)
      bodyOf200(await signInWith(app, wallet, message))
      assertInvalidGrant(await signInWith(app, wallet, message))
    })

    test(`a ${chain} message in all but one of several racing requests`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const message = buildMessage(wallet)
      const requests = Array.from({ length: 6 }, () => signInWith(app, wallet, message))
      const statuses = (await Promise.all(requests)).map(({ statusCode }) => statusCode)
      assert.deepEqual(statuses.toSorted(), [200, 400, 400, 400, 400, 400])
    })

    test(`a new ${chain} address while sign-ups are disabled, without consuming the message`, async () => {
      const { app } = await server({ ...walletsOn, AUTH_DISABLE_SIGNUP: 'true' })
      const wallet = newWallet()
      const response = await signInWith(app, wallet, buildMessage(wallet))
      assert.deepEqual(statusAndCode(response), [422, 'signup_disabled'])
    })

    test(`a banned user of a ${chain} wallet`, async () => {
      const { app } = await server(walletsOn)
      const wallet = newWallet()
      const { user } = bodyOf200<{ user: { id: string } }>(
        await signInWith(app, wallet, buildMessage(wallet)),
      )
      const banned_until = new Date(Date.now() + 3_600_000)
      await app.db.updateTable('users').set({ banned_until }).where('id', '=', user.id).execute()
      const response = await signInWith(app, wallet, buildMessage(wallet))
      assert.deepEqual(statusAndCode(response), [403, 'user_banned'])
    })
  }

  test('an Ethereum signature without 0x with invalid_grant', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const message = buildMessage(wallet)
    const signature = (await wallet.sign(message)).slice(2)
    assertInvalidGrant(await post(app, { chain: 'ethereum', message, signature }))
  })

  test('an Ethereum signature with a recovery id of 29 with invalid_grant', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const message = buildMessage(wallet)
    const signature = `${(await wallet.sign(message)).slice(0, -2)}1d`
    assertInvalidGrant(await post(app, { chain: 'ethereum', message, signature }))
  })

  test('the high-s form of an Ethereum signature with invalid_grant', async () => {
    const { app } = await server(walletsOn)
    const wallet = ethereumWallet()
    const message = buildMessage(wallet)
    const bytes = Buffer.from((await wallet.sign(message)).slice(2), 'hex')
    const s = secp256k1.Point.Fn.ORDER - BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`)
    const twin = `0x${bytes.subarray(0, 32).toString('hex')}${s.toString(16).padStart(64, '0')}${
      bytes[64] === 27 ? '1c' : '1b'
    }`
    assertInvalidGrant(await post(app, { chain: 'ethereum', message, signature: twin }))
  })

  test('a Solana signature with s + L with invalid_grant', async () => {
    const { app } = await server(walletsOn)
    const wallet = solanaWallet()
    const message = buildMessage(wallet)
    const bytes = Buffer.from(await wallet.sign(message), 'base64url')
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order
    const aal2 = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()
    const signature = Buffer.concat([bytes.subarray(0, 32), aal2]).toString('base64url')
    assertInvalidGrant(await post(app, { chain: 'solana', message, signature }))
  })

  test('the signature of a smart contract wallet with an explanation', async () => {
    const { app } = await server(walletsOn)
    const message = buildMessage(ethereumWallet())
    const signature = `0x${'ab'.repeat(200)}${'6492'.repeat(16)}`
    const response = await post(app, { chain: 'ethereum', message, signature })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
    assert.match(response.json().msg, /EIP-1271/)
  })

  test('a Solana signature of another length with validation_failed', async () => {
    const { app } = await server(walletsOn)
    const message = buildMessage(solanaWallet())
    for (const signature of ['', 'AAAA', 'A'.repeat(87), '*'.repeat(86)]) {
      const response = await post(app, { chain: 'solana', message, signature })
      assert.deepEqual(statusAndCode(response), [400, 'validation_failed'], signature)
    }
  })

  test('other chains with web3_unsupported_chain', async () => {
    const { app } = await server(walletsOn)
    for (const chain of ['bitcoin', 'Ethereum', '', undefined]) {
      assert.deepEqual(statusAndCode(await post(app, { chain })), [400, 'web3_unsupported_chain'])
    }
  })

  test('a disabled chain with web3_provider_disabled', async () => {
    const { app } = await server({ AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true' })
    assert.deepEqual(statusAndCode(await post(app, { chain: 'ethereum' })), [
      422,
      'web3_provider_disabled',
    ])
  })

  test('each body with web3_provider_disabled while both chains are disabled', async () => {
    const { app } = await server()
    for (const body of [{}, { chain: 'bitcoin' }]) {
      assert.deepEqual(statusAndCode(await post(app, body)), [422, 'web3_provider_disabled'])
    }
    const response = await call(app, '/token?grant_type=web3', undefined, { method: 'POST' })
    assert.deepEqual(statusAndCode(response), [422, 'web3_provider_disabled'])
  })
})

/** 400 in the form of RFC 6749 §5.2 with the fields of this API. */
function assertInvalidGrant(response: { statusCode: number; body: string; json: () => unknown }) {
  const { error, error_description: description, error_code: code } = Object(response.json())
  assert.deepEqual(
    [response.statusCode, error, code],
    [400, 'invalid_grant', 'invalid_credentials'],
    response.body,
  )
  assert.equal(typeof description, 'string')
}
