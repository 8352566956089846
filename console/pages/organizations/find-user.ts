import { getBody, withQuery } from '../../core/api.ts'

/** The id of the user with this email address or id. Throws an Error with a sentence for the admin. */
export async function findUserId(text: string): Promise<string> {
  const searched = text.trim().toLowerCase()
  const path = withQuery('/admin/users', { q: searched, limit: 100 })
  const { users } = await getBody(path)
  const found = users.filter(({ id, email }) => [id, email?.toLowerCase()].includes(searched))
  const [user] = found
  if (!user) throw new Error(`There is no user ${text.trim()}.`)
  if (found.length > 1) throw new Error(`Several users have this address. Enter an id.`)
  return user.id
}
