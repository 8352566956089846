/** The objects that wallets put into a page, as far as client SDKs call them. */
import type { Wallet } from './wallets.ts'

/** EIP-1193, for `window.ethereum`. */
export function injected(wallet: Wallet) {
  const responses: Record<string, (params: unknown) => unknown> = {
    eth_requestAccounts: () => [wallet.address],
    eth_chainId: () => '0x1',
    personal_sign: (params) => {
      const [message = ''] = [params].flat()
      return wallet.sign(Buffer.from(String(message).slice(2), 'hex').toString())
    },
  }
  return {
    address: wallet.address,
    on() {},
    removeListener() {},
    request: async ({ method, params }: { method: string; params?: unknown }) =>
      responses[method]?.(params),
  }
}

/** A Solana wallet that signs messages, for `window.solana`. */
export function phantom(wallet: Wallet) {
  return {
    publicKey: { toBase58: () => wallet.address },
    signMessage: async (message: Uint8Array) =>
      Buffer.from(await wallet.sign(Buffer.from(message).toString()), 'base64url'),
  }
}
