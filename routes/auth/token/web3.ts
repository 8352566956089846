import type { FastifyInstance } from 'fastify'

import { readLinkContext } from '../../../modules/flows/index.ts'
import { signInWithWallet } from '../../../modules/web3/index.ts'
import type { GrantHandler } from './grant.ts'

/** A message signed by a wallet (EIP-4361, Sign-In with Solana). */
export function web3Grant(fastify: FastifyInstance): GrantHandler {
  return async ({ chain, message, signature }, request, now) => {
    const { audience: aud, clientIp: ip, clientInfo } = request
    const context = { aud, ip, clientInfo, links: readLinkContext(fastify.flows, request, {}) }
    return signInWithWallet(fastify, { chain, message, signature }, context, now)
  }
}
