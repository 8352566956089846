import type { Config } from './groups/index.ts'

/** pg used to verify what libpq does not: the operator may expect verification. */
export function databaseNotices({ DATABASE_URL }: Config): string[] {
  const { searchParams } = new URL(DATABASE_URL)
  const mode = searchParams.get('sslmode') ?? ''
  const notices: string[] = []
  if (['allow', 'prefer'].includes(mode)) {
    notices.push(
      `DATABASE_URL has sslmode=${mode}: as in libpq, the connection may be unencrypted and the server is not verified; sslmode=verify-full encrypts and verifies.`,
    )
  }
  if (mode === 'require' && !searchParams.get('sslrootcert')) {
    notices.push(
      'DATABASE_URL has sslmode=require: as in libpq, the connection is encrypted but the server is not verified; sslmode=verify-full verifies it.',
    )
  }
  return notices
}
