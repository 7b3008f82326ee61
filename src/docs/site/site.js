// https://docsify.js.org/#/configuration
window.$docsify = {
	name: "Guildhall",
	relativePath: true,
	loadSidebar: true,
	alias: { "/.*/_sidebar.md": "/_sidebar.md" },
	auto2top: true,
	search: { paths: "auto", depth: 3 },
};
