import { buildMessage, ethereumWallet, solanaWallet } from '../../test/support/web3/wallets.ts'
import type { Scenario } from '../core/scenario.ts'
import { times } from '../core/users.ts'

const wallets = { ethereum: ethereumWallet, solana: solanaWallet }

/** An allowed redirect of the server, and the one host that needs no TLS. */
const place = { domain: 'localhost:3000', uri: 'http://localhost:3000/' }

/** A wallet creates a session, one wallet per connection. The messages are signed before. */
const signIn = (chain: keyof typeof wallets): Scenario => ({
  name: `web3-${chain}`,
  async prepare(_target, { connections, stock }) {
    const users = Array.from({ length: connections }, wallets[chain])
    const bodies = await times(stock, async (i) => {
      const wallet = users[i % connections] ?? wallets[chain]()
      const message = buildMessage(wallet, place)
      return { chain, message, signature: await wallet.sign(message) }
    })
    return {
      stock,
      request: (i) => ({
        method: 'POST',
        path: '/token?grant_type=web3',
        body: bodies[i] ?? {},
      }),
    }
  },
})

export const web3Ethereum = signIn('ethereum')
export const web3Solana = signIn('solana')
