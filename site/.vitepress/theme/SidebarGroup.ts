/**
 * The groups of the sidebar: a page sees the links of its own group, and of each other group one link, to its first page.
 * With all links on every page, a phone needed 300 ms more before it answered a touch.
 */
import { type DefaultTheme, useData } from "vitepress";
import VPSidebarGroup from "vitepress/dist/client/theme-default/components/VPSidebarGroup.vue";
import { type FunctionalComponent, h } from "vue";

type Item = DefaultTheme.SidebarItem;

const firstLink = (item: Item): string | undefined => item.link ?? item.items?.map(firstLink).find(Boolean);

const holds = (item: Item, link: string): boolean =>
  item.link === link || (item.items ?? []).some((below) => holds(below, link));

/** The same item with a link of its own, and without the items below it unless they hold the page. */
const shown = (item: Item, page: string): Item =>
  item.items === undefined
    ? item
    : {
        text: item.text,
        link: firstLink(item),
        items: holds(item, page) ? item.items.map((below) => shown(below, page)) : [],
      };

const SidebarGroup: FunctionalComponent<{ items: Item[] }> = ({ items }) => {
  const { page } = useData();
  const link = `/${page.value.relativePath.replace(/\.md$/, "")}`;
  return h(VPSidebarGroup, { items: items.map((item) => shown(item, link)) });
};
SidebarGroup.props = ["items"];

export default SidebarGroup;
