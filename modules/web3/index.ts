/** Sign-in with wallets: Ethereum (EIP-4361) and Solana. */
export { signInWithWallet } from './sign-in.ts'
export { checkEnabled } from './verify.ts'
