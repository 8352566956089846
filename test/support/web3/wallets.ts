/** Wallets by their libraries: viem for Ethereum, tweetnacl for Solana. */
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'

import { call } from '../requests.ts'
import type { App } from '../server.ts'

export const site = 'https://app.example'

export const walletsOn = {
  AUTH_SITE_URL: site,
  AUTH_URI_ALLOW_LIST: 'http://localhost:3000/**',
  AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: 'true',
  AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
}

export interface Wallet {
  chain: 'ethereum' | 'solana'
  address: string
  sign(message: string): Promise<string>
}

export interface MessageFields {
  domain?: string
  address?: string
  statement?: string | undefined
  uri?: string
  version?: string
  chainId?: string | undefined
  issuedAt?: string | undefined
  notBefore?: string
  expirationTime?: string
  more?: string[]
}

export function ethereumWallet(): Wallet {
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    chain: 'ethereum',
    address: account.address,
    sign: (message) => account.signMessage({ message }),
  }
}

/** Also as a hardware wallet signs: text in an envelope that can be no transaction. */
export function solanaWallet(): Wallet & { signOffChain: Wallet['sign'] } {
  const { publicKey, secretKey } = nacl.sign.keyPair()
  return {
    chain: 'solana',
    address: bs58.encode(publicKey),
    sign: async (message) => signature(Buffer.from(message), secretKey),
    signOffChain: async (message) => signature(offChain(message, publicKey), secretKey),
  }
}

const signature = (signed: Uint8Array, key: Uint8Array) =>
  Buffer.from(nacl.sign.detached(signed, key)).toString('base64url')

/** The layout that Solana's documentation of off-chain messages has. */
function offChain(message: string, signer: Uint8Array): Buffer {
  const text = Buffer.from(message)
  const domain = Buffer.alloc(32)
  domain.write(message.split(' ')[0] ?? '')
  const head = Buffer.from('ff736f6c616e61206f6666636861696e00', 'hex')
  const length = Buffer.from([text.length & 0xff, text.length >> 8])
  return Buffer.concat([head, domain, Buffer.from([0, 1]), signer, length, text])
}

export const wallets = { ethereum: ethereumWallet, solana: solanaWallet }

/** The SIWE message of viem for the same fields; the nonce distinguishes messages of the same time. */
export function siweMessage({ address }: Wallet): string {
  return createSiweMessage({
    address: address as `0x${string}`,
    chainId: 1,
    domain: 'app.example',
    nonce: crypto.randomUUID().replaceAll('-', ''),
    uri: `${site}/sign-in`,
    version: '1',
    issuedAt: new Date(),
    statement: 'Sign in to the example.',
  })
}

/** A valid message, but for the fields that the test names; undefined leaves a line out. */
export function buildMessage(wallet: Wallet, fields: MessageFields = {}): string {
  const title = wallet.chain === 'ethereum' ? 'Ethereum' : 'Solana'
  const {
    domain = 'app.example',
    address = wallet.address,
    statement = 'Sign in.',
    uri = `${site}/sign-in`,
    version = '1',
    chainId = wallet.chain === 'ethereum' ? '1' : 'solana:mainnet',
    issuedAt = new Date().toISOString(),
    notBefore,
    expirationTime,
    more = [`Nonce: ${crypto.randomUUID()}`],
  } = fields
  const has = (name: keyof MessageFields) => !(name in fields) || fields[name] !== undefined
  return [
    `${domain} wants you to sign in with your ${title} account:`,
    address,
    '',
    ...(has('statement') ? [statement, ''] : []),
    `URI: ${uri}`,
    `Version: ${version}`,
    ...(has('chainId') ? [`Chain ID: ${chainId}`] : []),
    ...(has('issuedAt') ? [`Issued At: ${issuedAt}`] : []),
    ...(notBefore === undefined ? [] : [`Not Before: ${notBefore}`]),
    ...(expirationTime === undefined ? [] : [`Expiration Time: ${expirationTime}`]),
    ...more,
  ].join('\n')
}

export const post = (app: App, body: object) => call(app, '/token?grant_type=web3', body)

/** Signs the message and sends it. */
export async function signInWith(app: App, wallet: Wallet, message: string) {
  return post(app, { chain: wallet.chain, message, signature: await wallet.sign(message) })
}

/** A time that many seconds from now. */
export const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
