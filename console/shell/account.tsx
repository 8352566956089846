import { credential, signOut } from '../core/credentials.ts'
import { setTheme, theme, themes } from '../core/theme.ts'
import { showError } from '../core/toasts.ts'

const names = { system: 'System', light: 'Light', dark: 'Dark' }

/** The signed-in user, the theme switch, and sign-out. */
export function AccountMenu() {
  const signedIn = credential.value
  const name =
    signedIn.kind === 'session' ? (signedIn.user.email ?? signedIn.user.phone) : 'Service key'
  return (
    <div class="account">
      <div class="small">
        <span class="quiet">Signed in with</span>
        <strong title={name ?? ''}>{name}</strong>
      </div>
      <fieldset class="segments" aria-label="Colours">
        {themes.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={theme.value === each}
            onClick={() => setTheme(each)}
          >
            {names[each]}
          </button>
        ))}
      </fieldset>
      <button type="button" class="button" onClick={() => signOut().catch(showError)}>
        Sign out
      </button>
    </div>
  )
}
