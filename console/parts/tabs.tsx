import { pageUrl } from '../core/base.ts'
import { path, query } from '../core/router.ts'

interface TabsProps {
  label: string
  tabs: readonly (readonly [name: string, title: string])[]
}

/** The current tab is stored in the URL; the first one is the default. */
export function currentTab({ tabs }: Pick<TabsProps, 'tabs'>): string {
  const named = query.value.get('tab')
  return tabs.find(([name]) => name === named)?.[0] ?? tabs[0]?.[0] ?? ''
}

export function Tabs({ label, tabs }: TabsProps) {
  const current = currentTab({ tabs })
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, title], index) => (
        <a
          key={name}
          href={pageUrl(path.value) + (index === 0 ? '' : `?tab=${name}`)}
          aria-current={name === current ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
