import { pageUrl } from '../core/base.ts'
import { path } from '../core/router.ts'
import { menuSections } from './pages.tsx'

export function Brand() {
  return (
    <a class="brand" href={pageUrl('/')}>
      <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
        <path
          fill="currentColor"
          d="M4 18V8a6 6 0 0 1 12 0v10h-3V8a3 3 0 0 0-6 0v10zm4.5 0V8.500a1.500 1.500 0 0 1 3 0V18z"
        />
      </svg>
      Postern
    </a>
  )
}

export function Navigation() {
  return (
    <nav class="navigation" aria-label="Console">
      {menuSections.value.map(
        ({ name, pages }) =>
          pages.length > 0 && (
            <div key={name}>
              {name && <h2>{name}</h2>}
              <ul>
                {pages.map(({ path: to, title }) => (
                  <li key={to}>
                    <a href={pageUrl(to)} aria-current={isCurrent(to) ? 'page' : undefined}>
                      {title}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
    </nav>
  )
}

function isCurrent(to: string): boolean {
  return path.value === to || (to !== '/' && path.value.startsWith(`${to}/`))
}
