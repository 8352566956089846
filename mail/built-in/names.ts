/** What people call the identifiers that variables hold. */

/** Ways to sign in that are no providers. */
const ownWays = new Map([
  ['email', 'your email address'],
  ['phone', 'your phone number'],
])

const factors = { totp: 'an authenticator app', phone: 'your phone', webauthn: 'a security key' }

/** Template source. Providers that the operator named keep the name they have. */
export const providerName = '{{ or .ProviderName .Provider }}'

/** The variables of a mail, with what people call its provider as `ProviderName`. */
export function withProviderName(variables: object, titles: ReadonlyMap<string, string>): object {
  const provider = 'Provider' in variables ? String(variables.Provider) : ''
  return { ...variables, ProviderName: ownWays.get(provider) ?? titles.get(provider) }
}

export const factorName = choice('.FactorType', factors)

function choice(variable: string, names: Record<string, string>): string {
  const branches = Object.entries(names).map(([id, name]) => `if eq ${variable} "${id}" }}${name}`)
  return `{{ ${branches.join('{{ else ')}{{ else }}{{ ${variable} }}{{ end }}`
}
